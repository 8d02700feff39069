"""Fair classification (Section 5.2): a small covariance with sex among the classifiers of smallest loss."""

from __future__ import annotations

from math import inf
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
from ..workshop import Made, Piece
from .fairness_claims import Split, additions, claims, differences
from .fairness_pages import Facts, panels, story, tables
from .fairness_tradeoff import price_of, slacks_for
from .initial import initial
from .outcome import Option, Outcome, Panel, Request
from .published import overlaid
from .record import moments, record
from .solving import solve

TITLE = "Fair classification"
OPTIONS = (
    Option("authors-gradient", "the upper gradient of the released code (wrong by a bracket): the published curves"),
    Option("download", "fetch the Adult data from the UCI repository (needs pooch)"),
)

EPSILON = 1e-4
UPDATES = 5001
"""Of CG-BiO in the authors' figure."""
MOST = 10_000_000
"""More updates than any of the others makes in that time."""
METHODS: dict[str, tuple[Solver[Any], bool]] = {
    "BiG-SAM": (BiGSAM(eta_f=0.1, eta_g=0.1, gamma=1.0), False),
    "a-IRG": (AIRG(gamma0=5.0, eta0=0.1, average=False), True),
    "DBGD": (DBGD(step=0.08, g_hat=0.0), True),
}
"""The paper's parameters, and whether its curves show the iterate itself."""

AUTHORS_METHODS = {**METHODS, "BiG-SAM": (BiGSAM(eta_f=0.1, eta_g=0.1, gamma=2.0), True)}
"""The released code takes 2 gamma / k for the weights of BiG-SAM and shows x_k, which may lie outside Z."""


def run(request: Request) -> Outcome:
    """All methods on the best data at hand, over splits of them, and the trade-off curve of the first."""
    peoples = {seed: _people(request, seed) for seed in range(request.seed, request.seed + request.pick(1, 10, 10))}
    people = peoples[request.seed]
    theirs = recorded(request.data) if people.paper == "authors" else None
    wrong = bool(request.options.get("authors-gradient"))
    methods = AUTHORS_METHODS if wrong else METHODS
    updates = request.pick(600, UPDATES, UPDATES)
    splits = {seed: _split(request, seed, one, wrong, updates) for seed, one in peoples.items()}
    split = splits[request.seed]
    g_star, first, runs = float(split.lower["g"]), split.first, split.runs
    facts = Facts(people, wrong, split.lower, first, theirs)
    make = request.workshop.make
    beside = _recorded_runs(make, people, theirs, request.pick(600, 20_000, 23_184)) if wrong and theirs else {}
    at_end = float(runs["CG-BiO"]["g"][-1]) - g_star
    rounds = request.pick(1, 4, 8)
    grid = slacks_for(g_star, request.pick(3, 9, 17))
    along = {"start": float(first["g"]) - g_star, "end": at_end, **{f"{slack:.3g}": slack for slack in grid}}
    prices = make(
        Piece(f"trade-off {name}", price_of, {"people": people, "slack": slack, "rounds": rounds})
        for name, slack in along.items()
    )
    curve = [prices[f"trade-off {slack:.3g}"] for slack in grid]
    ends = {name: prices[f"trade-off {name}"] for name in ("start", "end")}
    lacking = (
        "" if people.paper else "not the paper's data (option --data or --download)",
        "" if updates >= UPDATES else f"{updates} of the paper's {UPDATES} updates",
    )
    shown = {name: run for name, run in runs.items() if name in ("CG-BiO", *methods)}
    return Outcome(
        name="fairness",
        title=TITLE,
        story=story(facts, shown),
        claims=claims(list(splits.values()), lacking),
        panels=_with_published(panels(facts, shown, curve), request.data, wrong),
        tables=tables(facts, shown, curve),
        parameters={
            "data": people.source,
            "splits": list(peoples),
            "radius": RADIUS,
            "upper gradient": "of the released code (wrong)" if wrong else "right",
            "initial CG": f"backtracking from 0, at most {request.pick(1000, 10_001, 10_001)} steps",
            "CG-BiO": "Algorithm 1, steps 0.005/sqrt(k+1), eps_f = eps_g = 1e-4",
            **{name: repr(solver) for name, (solver, _) in methods.items()},
            "updates": {"CG-BiO": updates, "others": "as many seconds as CG-BiO with its initial phase"},
            "slacks": list(grid),
        },
        seed=request.seed,
        size=request.size,
        differences=differences(facts, runs),
        additions=additions(facts, list(splits.values()), beside, ends, lacking),
    )


def _with_published(made: tuple[Panel, ...], folder: Path | None, wrong: bool) -> tuple[Panel, ...]:
    """The four panels of the paper's figure with its curves."""
    note = "the published curves, in seconds of their machine" + ("." if wrong else "; made with the wrong gradient.")
    figures = ("fair_lower", "fair_upper", "fair_accuracy", "fair_p_rule")
    shown = [overlaid(panel, folder, figure, note) for panel, figure in zip(made, figures, strict=False)]
    return (*shown, *made[len(shown) :])


def _split(request: Request, seed: int, people: People, wrong: bool, updates: int) -> Split:
    """All runs on one split; the baselines take as long as CG-BiO with its initial phase."""
    make, given = request.workshop.make, {"people": people}
    name = f"split {seed}"
    base = make(
        [
            Piece(f"lower level, {name}", lower_level, given),
            Piece(f"initial CG, {name}", start, {**given, "most": request.pick(1000, 10_001, 10_001)}),
        ]
    )
    lower, first = base.values()
    ours = {**given, "wrong": wrong, "x0": first["x"], "updates": updates}
    pieces = [
        Piece(f"CG-BiO, {name}", cg_bio, {**ours, "constant": False}),
        Piece(f"CG-BiO, Theorem 2, {name}", cg_bio, {**ours, "constant": True}),
    ]
    cut, slow = make(pieces).values()
    cut["seconds"] = cut["seconds"] + float(first["seconds"])
    limit = {"seconds": float(cut["seconds"][-1]), "at": moments(MOST)}
    others = make(
        Piece(f"{label}, {name}", baseline, {**given, "wrong": wrong, "name": label, **limit})
        for label in (AUTHORS_METHODS if wrong else METHODS)
    )
    runs = {"CG-BiO": cut, **dict(zip(METHODS, others.values(), strict=True))}
    return Split(people, lower, first, runs, slow)


def _recorded_runs(make: Any, people: People, theirs: dict[str, NDArray[Any]], longer: int) -> dict[str, Made]:
    """The baselines once more, for as many updates as the authors recorded."""
    given = {"people": people, "wrong": True, "at": _moments(longer, theirs)}
    made = make(Piece(f"recorded, {name}", baseline, {**given, "name": name}) for name in AUTHORS_METHODS)
    return dict(zip(AUTHORS_METHODS, made.values(), strict=True))


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


def baseline(people: People, wrong: bool, name: str, at: NDArray[np.int_], seconds: float = inf) -> dict[str, Any]:
    """Another method, from 0, seen at the moments ``at``, until the last of them or until ``seconds`` are used up."""
    fair = problem(people, authors_gradient=wrong)
    solver, iterates = (AUTHORS_METHODS if wrong else METHODS)[name]
    zero = np.zeros(people.X.shape[1])
    ways: dict[str, Any] = {"at": at, "metrics": _metrics(people), "iterates": iterates, "seconds": seconds}
    return record(fair, solver, x0=zero, updates=int(at[-1]), **ways)


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


def _people(request: Request, seed: int = 0) -> People:
    if request.options.get("download"):
        data, test = (fetch(remote) for remote in ADULT)
        return from_raw(data, test, seed)
    return find(request.data, seed)


def _metrics(people: People) -> dict[str, Any]:
    return {
        "accuracy": lambda x: accuracy(people, people.test, x),
        "p_rule": lambda x: p_rule(people, people.test, x),
    }


def _shown(people: People, x: Vector) -> dict[str, float]:
    return {name: metric(x) for name, metric in _metrics(people).items()}
