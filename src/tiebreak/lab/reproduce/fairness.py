"""Fair classification (Section 5.2): a small covariance with sex among the classifiers of smallest loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...methods import Solver
from ...methods.a_irg import AIRG
from ...methods.big_sam import BiGSAM
from ...methods.cg_bio import CGBiO
from ...methods.dbgd import DBGD
from ...objectives import Linear
from ...problem import Problem
from ...steps import InverseSqrt, theorem_2
from ..experiments.download import ADULT, fetch
from ..experiments.fairness import RADIUS, accuracy, p_rule, problem
from ..experiments.people import People, find, from_raw
from ..workshop import Piece
from .fairness_claims import claims
from .fairness_pages import Facts, panels, story, tables
from .fairness_tradeoff import price_of, slacks_for
from .initial import initial
from .outcome import Option, Outcome, Request
from .record import moments, record
from .solving import solve

TITLE = "Fair classification"
OPTIONS = (
    Option("authors-gradient", "the upper gradient of the released code (wrong by a bracket): the published curves"),
    Option("download", "fetch the Adult data from the UCI repository (needs pooch)"),
)

EPSILON = 1e-4
METHODS: dict[str, tuple[Solver[Any], bool]] = {
    "BiG-SAM": (BiGSAM(eta_f=0.1, eta_g=0.1, gamma=1.0), False),
    "a-IRG": (AIRG(gamma0=5.0, eta0=0.1, average=False), True),
    "DBGD": (DBGD(step=0.08, g_hat=0.0), True),
}
"""The paper's parameters, and whether its curves show the iterate itself."""

AUTHORS_METHODS = {**METHODS, "BiG-SAM": (BiGSAM(eta_f=0.1, eta_g=0.1, gamma=2.0), True)}
"""The released code takes 2 gamma / k for the weights of BiG-SAM and shows x_k, which may lie outside Z."""


def run(request: Request) -> Outcome:
    """All methods on the best data at hand, and the trade-off curve."""
    people = _people(request)
    theirs = recorded(request.data) if people.paper == "authors" else None
    wrong = bool(request.options.get("authors-gradient"))
    methods = AUTHORS_METHODS if wrong else METHODS
    updates = request.pick(600, 5001, 5001)
    longer = request.pick(600, 20_000, 23_184)
    make = request.workshop.make
    given: dict[str, Any] = {"people": people}
    base = make(
        [
            Piece("lower level", lower_level, given),
            Piece("initial CG", start, {**given, "most": request.pick(1000, 10_001, 10_001)}),
        ]
    )
    g_star, first = float(base["lower level"]["g"]), base["initial CG"]
    given = {**given, "wrong": wrong}
    pieces = [
        Piece("CG-BiO", cg_bio, {**given, "x0": first["x"], "updates": updates, "constant": False}),
        Piece("CG-BiO, Theorem 2", cg_bio, {**given, "x0": first["x"], "updates": updates, "constant": True}),
        *(Piece(name, baseline, {**given, "name": name, "at": _moments(longer, theirs)}) for name in methods),
    ]
    made = make(pieces)
    at_end = float(made["CG-BiO"]["g"][-1]) - g_star
    rounds = request.pick(1, 4, 8)
    grid = slacks_for(g_star, request.pick(3, 9, 17))
    along = {"start": float(first["g"]) - g_star, "end": at_end, **{f"{slack:.3g}": slack for slack in grid}}
    prices = make(
        Piece(f"trade-off {name}", price_of, {"people": people, "slack": slack, "rounds": rounds})
        for name, slack in along.items()
    )
    curve = [prices[f"trade-off {slack:.3g}"] for slack in grid]
    ends = {name: prices[f"trade-off {name}"] for name in ("start", "end")}
    runs = {name: made[name] for name in ("CG-BiO", *methods)}
    runs["CG-BiO"]["seconds"] = runs["CG-BiO"]["seconds"] + float(first["seconds"])
    facts = Facts(people, wrong, base["lower level"], first, theirs)
    return Outcome(
        name="fairness",
        title=TITLE,
        story=story(facts, runs),
        claims=claims(facts, runs, made["CG-BiO, Theorem 2"], curve, ends),
        panels=panels(facts, runs, curve),
        tables=tables(facts, runs, curve),
        parameters={
            "data": people.source,
            "radius": RADIUS,
            "upper gradient": "of the released code (wrong)" if wrong else "right",
            "initial CG": f"backtracking from 0, at most {request.pick(1000, 10_001, 10_001)} steps",
            "CG-BiO": "Algorithm 1, steps 0.005/sqrt(k+1), eps_f = eps_g = 1e-4",
            **{name: repr(solver) for name, (solver, _) in methods.items()},
            "updates": {"CG-BiO": updates, "others": longer},
            "slacks": list(grid),
        },
        seed=request.seed,
        size=request.size,
    )


def lower_level(people: People) -> dict[str, Any]:
    """g* and two minimisers of g, as far apart along a direction that the data do not see as the set of them allows."""
    fair = problem(people)
    _, sizes, directions = np.linalg.svd(people.X[people.train], full_matrices=False)
    found = [
        solve(Problem(Linear(sign * directions[-1]), fair.lower, fair.domain), "exact", tol_upper=1e-6, tol_lower=1e-9)
        for sign in (1, -1)
    ]
    best = min(found, key=lambda result: result.g)
    return {
        "g": best.g,
        "g_lower": best.certificate.g_lower,
        "x": np.array([result.x for result in found]),
        "f": [fair.upper.value(result.x) for result in found],
        "rank": int(np.sum(sizes > 1e-10 * sizes[0])),
        "accuracy": accuracy(people, people.test, best.x),
        "p_rule": p_rule(people, people.test, best.x),
    }


def start(people: People, most: int) -> dict[str, Any]:
    """The initial conditional gradient with backtracking."""
    fair = problem(people)
    found = initial(fair, "backtracking", EPSILON / 2, most)
    return {**found, "f": fair.upper.value(found["x"]), **_shown(people, found["x"])}


def cg_bio(people: People, wrong: bool, x0: Vector, updates: int, constant: bool) -> dict[str, Any]:
    """Algorithm 1 with the paper's steps, or with the constant one of Theorem 2; its iterates."""
    fair = problem(people, authors_gradient=wrong)
    step = theorem_2(fair, EPSILON, EPSILON) if constant else InverseSqrt(0.005)
    solver = CGBiO(step=step, tol_upper=EPSILON, tol_lower=EPSILON)
    return record(fair, solver, x0=x0, updates=updates, metrics=_metrics(people), iterates=True)


def baseline(people: People, wrong: bool, name: str, at: NDArray[np.int_]) -> dict[str, Any]:
    """Another method, from 0, seen at the moments ``at``."""
    fair = problem(people, authors_gradient=wrong)
    solver, iterates = (AUTHORS_METHODS if wrong else METHODS)[name]
    zero = np.zeros(people.X.shape[1])
    return record(fair, solver, x0=zero, updates=int(at[-1]), at=at, metrics=_metrics(people), iterates=iterates)


def recorded(folder: Path | None) -> dict[str, NDArray[Any]] | None:
    """The authors' recorded runs, where they are at hand."""
    if folder is None or not (folder / "fairness_reference.npz").exists():
        return None
    with np.load(folder / "fairness_reference.npz", allow_pickle=False) as file:
        return dict(file)


def _moments(updates: int, theirs: dict[str, NDArray[Any]] | None) -> NDArray[np.int_]:
    """When to look: also where the authors did."""
    at = moments(updates) if theirs is None else np.union1d(moments(updates), theirs["dbgd_k"])
    return at[at <= updates]


def _people(request: Request) -> People:
    if request.options.get("download"):
        data, test = (fetch(remote) for remote in ADULT)
        return from_raw(data, test, request.seed)
    return find(request.data, request.seed)


def _metrics(people: People) -> dict[str, Any]:
    return {
        "accuracy": lambda x: accuracy(people, people.test, x),
        "p_rule": lambda x: p_rule(people, people.test, x),
    }


def _shown(people: People, x: Vector) -> dict[str, float]:
    return {name: metric(x) for name, metric in _metrics(people).items()}
