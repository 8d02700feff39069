"""Over-parameterised regression (Section 5.1): the model that validates best among those that fit best."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ...arrays import Vector
from ...methods import Solver
from ...methods.a_irg import AIRG
from ...methods.big_sam import BiGSAM
from ...methods.cg_bio import CGBiO
from ...methods.dbgd import DBGD
from ...methods.mng import MNG
from ...objectives import Objective, SquaredNorm
from ...problem import Problem
from ...solve import iterate
from ...steps import Harmonic
from ..experiments.download import WIKIPEDIA, fetch
from ..experiments.regression import Samples, diabetes_samples, stand_in, wikipedia
from ..workshop import Made, Piece
from .conic import conic
from .initial import initial
from .outcome import Option, Outcome, Request
from .record import record
from .regression_claims import STAND_IN, Trial, additions, claims, differences
from .regression_pages import Case, panels, story, tables
from .solving import solve

TITLE = "Over-parameterised regression"
OPTIONS = (
    Option("download", "fetch the Wikipedia data of the paper (needs pooch)"),
    Option("authors-code", "parameters and measures of the released code where they differ from the paper's"),
)

EPSILON = 1e-4
UPDATES = 10_001
"""Of CG-BiO in the released code."""
MOST = 10_000_000
"""More updates than any of the others makes in that time."""
NAMES = ("CG-BiO", "MNG", "BiG-SAM", "a-IRG", "DBGD")
LARGE_STEPS = "CG-BiO, steps 2/(k+2)"
TILT = 1e-8
"""MNG needs a strongly convex f, which the validation error is not: it gets f + TILT L_f ||x||^2 / 2."""
SLACK = 1e-6
"""Of the relaxed problem that both the exact engine and the conic solver solve."""


def run(request: Request) -> Outcome:
    """The paper's case for one or more targets, one with a choice, and both on the diabetes data."""
    data, authors = _data(request, request.seed), bool(request.options.get("authors-code"))
    targets = request.pick(1, 1, 10) if data.real else 1
    papers = [Case("paper", data, 1.0, None)]
    papers += [
        Case(f"paper, target {seed}", _data(request, seed), 1.0, None)
        for seed in range(request.seed + 1, request.seed + targets)
    ]
    choices = [Case("choice", data, 2.0, 30), Case("diabetes choice", diabetes_samples(60), 20.0, None)]
    besides = [
        Case("diabetes" if seed == 0 else f"diabetes, split {seed}", diabetes_samples(seed=seed), 1.0, None)
        for seed in range(request.pick(1, 10, 10))
    ]
    diabetes = besides[0]
    cases = [*papers, choices[0], *besides, choices[1]]
    relaxed, updates = request.size != "quick", request.pick(600, UPDATES, UPDATES)
    pieces = [Piece(f"{case.name}: exact", exact, {"case": case, "relaxed": relaxed}) for case in cases]
    proved = {case.name: known for case, known in zip(cases, request.workshop.make(pieces).values(), strict=True)}
    trials = {
        case.name: _trial(request, case, proved[case.name], updates, authors)
        for case in (*papers, choices[0], *besides)
    }
    given = {"case": papers[0], "x0": trials["paper"].first["x"], "authors": authors, "updates": updates}
    details = request.workshop.make(
        [
            Piece(f"paper: {LARGE_STEPS}", follow, {**given, "name": LARGE_STEPS}),
            Piece("split", split, {"case": papers[0], "x0": trials["paper"].first["x"]}),
        ]
    )
    large, parts = details.values()
    lacking = (
        "" if data.real else STAND_IN,
        "" if updates >= UPDATES else f"{updates} of the {UPDATES} updates of CG-BiO",
    )
    shown = [papers[0], choices[0], diabetes]
    runs = {case.name: trials[case.name].runs for case in shown}
    four = [papers[0], choices[0], diabetes, choices[1]]
    return Outcome(
        name="regression",
        title=TITLE,
        story=story(four, proved, authors),
        claims=claims([trials[case.name] for case in papers], parts, lacking),
        panels=panels(shown, proved, runs, authors),
        tables=tables(four, proved, runs),
        parameters={
            "data": data.source,
            "targets": targets,
            "cases": {case.name: {"radius": case.radius, "training rows": case.training} for case in four},
            "eps_f, eps_g": EPSILON,
            "updates of CG-BiO": updates,
            "the others": "as many seconds as CG-BiO with its initial phase",
            "MNG": f"on f + {TILT:g} L_f |x|^2 / 2, M = L_g",
            "CG-BiO": repr(_solver("CG-BiO", papers[0].problem(), authors)),
            **{name: repr(_solver(name, papers[0].problem(), authors)) for name in NAMES[2:]},
        },
        seed=request.seed,
        size=request.size,
        differences=differences(authors),
        additions=additions(
            [trials[case.name] for case in papers],
            [trials[case.name] for case in besides],
            {case.name: (case, proved[case.name]) for case in choices},
            large,
            {case.name: proved[case.name] for case in four},
            lacking,
        ),
    )


def _trial(request: Request, case: Case, known: Made, updates: int, authors: bool) -> Trial:
    """The initial phase and CG-BiO, then the others for as many seconds."""
    make = request.workshop.make
    most = request.pick(1000, 10_000, 10_000)
    (first,) = make(
        [Piece(f"{case.name}: initial CG", start, {"case": case, "most": most, "authors": authors})]
    ).values()
    given = {"case": case, "x0": first["x"], "authors": authors}
    (ours,) = make([Piece(f"{case.name}: CG-BiO", follow, {**given, "name": "CG-BiO", "updates": updates})]).values()
    ours["seconds"] = ours["seconds"] + first["seconds"]
    limit = {"updates": MOST, "seconds": float(ours["seconds"][-1])}
    others = make(Piece(f"{case.name}: {name}", follow, {**given, **limit, "name": name}) for name in NAMES[1:])
    return Trial(case, known, first, {"CG-BiO": ours, **dict(zip(NAMES[1:], others.values(), strict=True))})


def split(case: Case, x0: Vector, updates: int = 30, others: int = 100) -> dict[str, Any]:
    """The subproblem as the linear programme of Appendix F.1, against the cut oracle: relative differences."""
    problem, rng, off = case.problem(), np.random.default_rng(0), []
    level, d = problem.lower.value(x0), problem.dim
    solver = CGBiO(step=Harmonic(2, 12), tol_upper=-np.inf, tol_lower=EPSILON)
    for state in islice(iterate(problem, solver, x0=x0), updates):
        a, (g, c) = problem.upper.grad(state.x), problem.lower.value_and_grad(state.x)
        off.append(_apart(problem, case.radius, a, c, float(c @ state.x) + level - g))
    for _ in range(others):
        a, c = rng.normal(size=(2, d)).round(1)  # ties
        off.append(_apart(problem, case.radius, a, c, case.radius * float(np.abs(c).max()) * rng.uniform(-0.99, 1)))
    return {"off": off}


def _apart(problem: Problem, radius: float, a: Vector, c: Vector, bound: float) -> float:
    """Least <a, s> with <c, s> <= bound over the l1 ball: in s+, s- >= 0 by an LP solver, and by the cut oracle."""
    found = linprog(
        np.concatenate([a, -a]),
        A_ub=np.vstack([np.ones(2 * a.size), np.concatenate([c, -c])]),
        b_ub=[radius, bound],
        bounds=(0, None),
    )
    cut = problem.domain.lmo_cut(a, c, bound)
    assert found.fun is not None
    return abs(float(found.fun) - float(a @ cut.point)) / (1 + float(np.abs(a).max()))


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


def follow(case: Case, name: str, x0: Vector, updates: int, authors: bool, seconds: float = np.inf) -> dict[str, Any]:
    """A run with both objectives and the test error; only CG-BiO starts from x0, the others from 0."""
    problem, test = case.problem(), case.data.test_error()
    solver, zero = _solver(name, problem, authors), np.zeros(problem.dim)
    ends: dict[str, Any] = {"updates": updates, "seconds": seconds}
    measured = {"test": (lambda x: float(np.sqrt(2 * test.value(x)))) if authors else test.value}
    if name != "MNG":
        return record(problem, solver, x0=x0 if name.startswith("CG-BiO") else zero, metrics=measured, **ends)
    tilt = TILT * _smoothness(problem.upper) * SquaredNorm(dim=problem.dim)
    tilted = Problem(problem.upper + tilt, problem.lower, problem.domain)
    measured["f"] = problem.upper.value  # in the place of the tilted one
    made = record(tilted, solver, x0=zero, metrics=measured, **ends)
    if authors:  # f and the test error at x_k, which need not lie in Z; g at its projected step
        again = int(made["updates"][-1])
        loose = record(tilted, solver, x0=zero, updates=again, at=made["updates"], metrics=measured, iterates=True)
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


def _data(request: Request, seed: int = 0) -> Samples:
    if request.options.get("download"):
        return wikipedia(fetch(WIKIPEDIA), seed)
    path = request.data
    if path is not None and path.is_dir():
        path = path / WIKIPEDIA.name
    return wikipedia(path, seed) if path is not None and path.is_file() else stand_in(seed)
