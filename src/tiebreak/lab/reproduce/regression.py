"""Over-parameterised regression (Section 5.1): the model that validates best among those that fit best."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Vector
from ...methods import Solver
from ...methods.a_irg import AIRG
from ...methods.big_sam import BiGSAM
from ...methods.cg_bio import CGBiO
from ...methods.dbgd import DBGD
from ...methods.mng import MNG
from ...objectives import Objective, SquaredNorm
from ...problem import Problem
from ...steps import Harmonic
from ..experiments.download import WIKIPEDIA, fetch
from ..experiments.regression import Samples, diabetes_samples, stand_in, wikipedia
from ..workshop import Piece
from .conic import conic
from .initial import initial
from .outcome import Option, Outcome, Request
from .record import record
from .regression_claims import claims
from .regression_pages import Case, panels, story, tables
from .solving import solve

TITLE = "Over-parameterised regression"
OPTIONS = (
    Option("download", "fetch the Wikipedia data of the paper (needs pooch)"),
    Option("authors-code", "parameters and measures of the released code where they differ from the paper's"),
)

EPSILON = 1e-4
NAMES = ("CG-BiO", "MNG", "BiG-SAM", "a-IRG", "DBGD")
LARGE_STEPS = "CG-BiO, steps 2/(k+2)"
TILT = 1e-8
"""MNG needs a strongly convex f, which the validation error is not: it gets f + TILT L_f ||x||^2 / 2."""
SLACK = 1e-6
"""Of the relaxed problem that both the exact engine and the conic solver solve."""


def run(request: Request) -> Outcome:
    """The paper's case, one with a choice, and both on the diabetes data."""
    data = _data(request)
    cases = [
        Case("paper", data, 1.0, None),
        Case("choice", data, 2.0, 30),
        Case("diabetes", diabetes_samples(), 1.0, None),
        Case("diabetes choice", diabetes_samples(60), 20.0, None),
    ]
    authors = bool(request.options.get("authors-code"))
    updates = {name: request.pick(300, 12_000, 30_000) for name in NAMES} | {
        "CG-BiO": request.pick(600, 10_001, 10_001),
        "MNG": request.pick(20, 1000, 5000),
    }
    relaxed = request.size != "quick"
    known = request.workshop.make(
        Piece(f"{case.name}: exact", exact, {"case": case, "relaxed": relaxed}) for case in cases
    )
    most = request.pick(1000, 10_000, 10_000)
    shown = [case for case in cases if case.name != "diabetes choice"]
    firsts = request.workshop.make(
        Piece(f"{case.name}: initial CG", start, {"case": case, "most": most, "authors": authors}) for case in shown
    )
    wanted = [(case, name) for case in shown for name in NAMES] + [(cases[0], LARGE_STEPS)]
    runs = request.workshop.make(
        Piece(
            f"{case.name}: {name}",
            follow,
            {
                "case": case,
                "name": name,
                "x0": firsts[f"{case.name}: initial CG"]["x"],
                "updates": updates[name.split(",")[0]],
                "authors": authors,
            },
        )
        for case, name in wanted
    )
    by_case = {case.name: {name: runs[f"{case.name}: {name}"] for name in NAMES} for case in shown}
    proved = {case.name: known[f"{case.name}: exact"] for case in cases}
    first = {case.name: firsts[f"{case.name}: initial CG"] for case in shown}
    for case in shown:
        by_case[case.name]["CG-BiO"]["seconds"] = by_case[case.name]["CG-BiO"]["seconds"] + first[case.name]["seconds"]
    return Outcome(
        name="regression",
        title=TITLE,
        story=story(cases, proved, authors),
        claims=claims(cases, proved, first, by_case, runs[f"paper: {LARGE_STEPS}"]),
        panels=panels(shown, proved, by_case, authors),
        tables=tables(cases, proved, by_case),
        parameters={
            "data": data.source,
            "cases": {case.name: {"radius": case.radius, "training rows": case.training} for case in cases},
            "eps_f, eps_g": EPSILON,
            "updates": updates,
            "MNG": f"on f + {TILT:g} L_f |x|^2 / 2, M = L_g",
            "CG-BiO": repr(_solver("CG-BiO", cases[0].problem(), authors)),
            **{name: repr(_solver(name, cases[0].problem(), authors)) for name in NAMES[2:]},
        },
        seed=request.seed,
        size=request.size,
    )


def exact(case: Case, relaxed: bool) -> dict[str, Any]:
    """f* and g* with their brackets, what is proved of the lower solutions, and the conic solver's opinion."""
    problem = case.problem()
    found = solve(problem, "exact", tol_upper=1e-7, tol_lower=1e-7)
    proof, other = found.certificate, conic(problem)
    made = {
        "f": found.f,
        "g": found.g,
        "x": found.x,
        "f_bracket": [proof.f_lower, proof.f_upper],
        "g_bracket": [proof.g_lower, proof.g_upper],
        "unique": _known_as(proof.lower_unique),
        "constant": _known_as(proof.upper_constant),
        "conic_g": [other.bound, other.value],
        "test": case.data.test_error().value(found.x),
    }
    if relaxed:
        ours, theirs = solve(problem.with_slack(SLACK), "exact", tol_upper=1e-8, tol_lower=1e-8), conic(problem, SLACK)
        made |= {"relaxed": ours.f, "conic_f": [theirs.bound, theirs.value]}
    return made


def start(case: Case, most: int, authors: bool) -> dict[str, Any]:
    """The initial conditional gradient, steps 2/(k+2); the released code counts k from 1."""
    return initial(case.problem(), "harmonic", EPSILON / 2, most, skip=int(authors))


def follow(case: Case, name: str, x0: Vector, updates: int, authors: bool) -> dict[str, Any]:
    """A run with both objectives and the test error; only CG-BiO starts from x0, the others from 0."""
    problem, test = case.problem(), case.data.test_error()
    solver, zero = _solver(name, problem, authors), np.zeros(problem.dim)
    measured = {"test": (lambda x: float(np.sqrt(2 * test.value(x)))) if authors else test.value}
    if name != "MNG":
        return record(problem, solver, x0=x0 if name.startswith("CG-BiO") else zero, updates=updates, metrics=measured)
    tilt = TILT * _smoothness(problem.upper) * SquaredNorm(dim=problem.dim)
    tilted = Problem(problem.upper + tilt, problem.lower, problem.domain)
    measured["f"] = problem.upper.value  # in the place of the tilted one
    made = record(tilted, solver, x0=zero, updates=updates, metrics=measured)
    if authors:  # f and the test error at x_k, which need not lie in Z; g at its projected step
        loose = record(tilted, solver, x0=zero, updates=updates, metrics=measured, iterates=True)
        made |= {key: loose[key] for key in ("f", "test")}
    return made


def _solver(name: str, problem: Problem, authors: bool) -> Solver[Any]:
    """With the paper's parameters, or those of the released code."""
    L_f, L_g = _smoothness(problem.upper), _smoothness(problem.lower)
    match name:
        case "CG-BiO":
            step = Harmonic(2, 13) if authors else Harmonic(2, 12)  # the released code counts from 1
            return CGBiO(step=step, tol_upper=EPSILON, tol_lower=EPSILON)
        case "MNG":
            return MNG(M=L_g)
        case "BiG-SAM":
            return BiGSAM(eta_f=2 / L_f, eta_g=1 / L_g, gamma=20.0 if authors else 10.0)
        case "a-IRG":
            gamma0, eta0 = (1e-3, 1e-3) if authors else (0.01, 1.0)
            return AIRG(gamma0=gamma0, eta0=eta0, average=False)
        case "DBGD":
            return DBGD(step=1e-4, g_hat=0.0)
        case _:
            assert name == LARGE_STEPS
            return CGBiO(step=Harmonic(2, 2), tol_upper=EPSILON, tol_lower=EPSILON)


def _smoothness(objective: Objective) -> float:
    assert objective.smoothness is not None
    return objective.smoothness


def _known_as(fact: bool | None) -> int:
    return -1 if fact is None else int(fact)


def _data(request: Request) -> Samples:
    if request.options.get("download"):
        return wikipedia(fetch(WIKIPEDIA), request.seed)
    path = request.data
    if path is not None and path.is_dir():
        path = path / WIKIPEDIA.name
    return wikipedia(path, request.seed) if path is not None and path.is_file() else stand_in(request.seed)
