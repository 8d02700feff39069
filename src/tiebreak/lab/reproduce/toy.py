"""The two-dimensional example of Appendix D.1: CG-BiO against the primal-dual method APDB."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...methods.apdb import APDB
from ...methods.cg_bio import CGBiO
from ...objectives import LeastSquares, Linear, SquaredNorm
from ...problem import Problem
from ...sets import Box
from ...solve import iterate
from ...states import Clock
from ...steps import Harmonic
from ..experiments.toy import AUTHORS_START, F_STAR, G_STAR, SOLUTION, problem
from ..workshop import Made, Piece
from .outcome import Curve, Option, Outcome, Panel, Request, Table
from .published import overlaid
from .solving import solve
from .toy_claims import EXACT_LEVEL, PLAIN, RELAXED, TIED, additions, claims, differences, updates_of

TITLE = "The two-dimensional example"
OPTIONS: tuple[Option, ...] = ()

EPSILON = 1e-5
AS_WRITTEN = ", steps 2/(k+2)"
"""The steps of the text; without it those of the released code, which counts from 1."""
VERTICES = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 5 / 6], [0.0, 0.0]])
OTHER_START = AUTHORS_START[0] * np.array([0.5, 0.5])
"""Where the same initial phase ends if the tied linear programme answers (1/2, 1/2) instead of (1, 0)."""
SLACKS = (1e-2, 1e-4, 1e-6, 1e-8)
SIGMAS = (100.0, 20.0, 9.0, 1.0, 1e-2)
"""Of g + sigma f: the multiplier of the relaxed problem is 0.1, so that below 10 its minimiser is the answer."""


def cg_bio(start: Vector, shift: int) -> dict[str, Any]:
    """Algorithm 1 with steps 2/(k + shift) until its own test ends it."""
    solver = CGBiO(step=Harmonic(2, shift))
    toy = problem()
    return _followed(toy, iterate(toy, solver, x0=start, tol_upper=EPSILON, tol_lower=EPSILON), lambda x: False)


def apdb(start: Vector, level: float) -> dict[str, Any]:
    """APDB until f - f* <= eps, and the violated constraints sum to eps at most: the test of the released code."""
    toy = problem()
    rows, bounds = np.array([[-1.0, -1.0], [1.0, 1.0], [4.0, 6.0]]), np.array([level, 1.0, 5.0])

    def enough(x: Vector) -> bool:
        violation = float(np.maximum(rows @ x - bounds, 0).sum())
        return toy.upper.value(x) - F_STAR <= EPSILON and violation <= EPSILON

    return _followed(toy, iterate(toy, APDB(level=level, tau0=1e-2), x0=start), enough)


def exact() -> dict[str, Any]:
    """What the exact solver proves: the answer, the extent of X_g*, the multipliers of the relaxed problems."""
    toy = problem()
    answer = solve(toy, "exact")
    ends = [solve(Problem(Linear(c), toy.lower, toy.domain), "exact").f for c in ([1, 0], [-1, 0], [0, 1], [0, -1])]
    proof = answer.certificate
    return {
        "x": answer.x,
        "f": [proof.f_lower, proof.f_upper],
        "g": [proof.g_lower, proof.g_upper],
        "ends": np.array(ends) * [1, -1, 1, -1],
        "slacks": SLACKS,
        "multipliers": _multipliers(toy),
        "quadratic multipliers": _multipliers(quadratic()),
        "sigmas": SIGMAS,
        "regularised": [_regularised(toy, sigma) for sigma in SIGMAS],
    }


def quadratic() -> Problem:
    """The smallest point of the unit square among those with x1 + x2 = 1, by a quadratic g."""
    return Problem(SquaredNorm(dim=2), LeastSquares(np.ones((1, 2)), [1.0]), Box(0.0, 1.0))


def _multipliers(problem: Problem) -> list[float]:
    """Of g(x) <= g* + slack, for every slack."""
    found = [solve(problem.with_slack(slack), "exact").certificate.multiplier for slack in SLACKS]
    return [float("nan") if value is None else float(value) for value in found]


def _regularised(problem: Problem, sigma: float) -> Vector:
    """The minimiser of g + sigma f over Z."""
    whole = Problem(Linear(np.zeros(problem.dim)), problem.lower + sigma * problem.upper, problem.domain)
    return solve(whole, "exact", tol_lower=1e-12).x


def run(request: Request) -> Outcome:
    """Both methods from the authors' starting points (their recorded ones where ``data`` has them), and the twists."""
    theirs = _reference(request.data)
    apdb_start = theirs["apdb_x"][0] if theirs else np.array([0.5, 0.5])
    no_relaxation = float(problem().lower.value(apdb_start))
    starts = {PLAIN: theirs["cgbio_x"][0] if theirs else AUTHORS_START, TIED: OTHER_START}
    made = request.workshop.make(
        [
            *(
                Piece(name + which, cg_bio, {"start": start, "shift": shift})
                for name, start in starts.items()
                for which, shift in (("", 3), (AS_WRITTEN, 2))
            ),
            Piece(EXACT_LEVEL, apdb, {"start": apdb_start, "level": no_relaxation}),
            Piece(RELAXED, apdb, {"start": np.array([0.5, 0.5]), "level": G_STAR + EPSILON}),
            Piece("exact", exact),
        ]
    )
    runs = {name: made[name] for name in (PLAIN, TIED, EXACT_LEVEL, RELAXED)}
    written = {name: updates_of(made[name + AS_WRITTEN]) for name in (PLAIN, TIED)}
    return Outcome(
        name="toy",
        title=TITLE,
        story=_story(theirs, runs),
        claims=claims(runs, written, made["exact"]),
        panels=(*_trajectories(runs), *_gaps(runs, request.data)),
        tables=(_table(runs),),
        parameters={
            "eps": EPSILON,
            "CG-BiO steps": "2/(k+3), k = 0, 1, ...",
            "CG-BiO starts": [list(runs[PLAIN]["x"][0]), list(OTHER_START)],
            "APDB": {"tau0": 1e-2, "shrink": 0.7, "gamma": 1.0, "start": list(apdb_start)},
            "APDB levels": [no_relaxation, G_STAR + EPSILON],
            "authors' recorded iterates": "compared" if theirs else "not there",
        },
        seed=request.seed,
        size=request.size,
        differences=differences(runs, written),
        additions=additions(runs, made["exact"], theirs),
    )


def _followed(toy: Problem, states: Any, enough: Any) -> dict[str, Any]:
    """Every iterate (not its projection) with both objectives; the clock stops while they are evaluated."""
    points: list[Vector] = []
    seconds: list[float] = []
    clock = Clock(process_time)
    for state in clock.over(states):
        points.append(state.x.copy())
        seconds.append(clock.elapsed)
        if state.k > 0 and enough(state.x):
            break
    return {
        "x": np.array(points),
        "seconds": seconds,
        "f": [toy.upper.value(x) for x in points],
        "g": [toy.lower.value(x) for x in points],
    }


def _reference(folder: Path | None) -> dict[str, NDArray[Any]] | None:
    """The authors' recorded iterates."""
    if folder is None or not (folder / "toy_reference.npz").exists():
        return None
    with np.load(folder / "toy_reference.npz", allow_pickle=False) as file:
        return dict(file)


def _distance(ours: Vector, theirs: Vector) -> float:
    return float(np.abs(ours - theirs).max()) if ours.shape == theirs.shape else float("inf")


def _story(theirs: dict[str, NDArray[Any]] | None, runs: dict[str, Made]) -> tuple[str, ...]:
    compared = "Their recorded iterates are not at hand (option --data): the starting points are computed."
    if theirs:
        compared = (
            "Both methods start where the authors' recorded runs do. The iterates differ from theirs by at most "
            f"{_distance(runs[PLAIN]['x'], theirs['cgbio_x']):.1e} (CG-BiO) and "
            f"{_distance(runs[EXACT_LEVEL]['x'], theirs['apdb_x']):.1e} (APDB)."
        )
    return (
        "Minimise x1²/2 − x1/2 + x2/10 over the points of the polytope x ≥ 0, x1 + x2 ≤ 1, 4 x1 + 6 x2 ≤ 5 with the "
        "largest x1 + x2: a whole edge, from (1/2, 1/2) to (1, 0). The answer is (0.6, 0.4).",
        compared,
        "The lower level is a linear programme with a tie: its first conditional gradient step may go to (1, 0) or to "
        "(1/2, 1/2), and the paper does not say which. The released code went to (1, 0).",
    )


def _trajectories(runs: dict[str, Made]) -> tuple[Panel, Panel]:
    levels = []
    for value in (-0.11, -0.095, F_STAR, -0.06, -0.03, 0.0, 0.04):
        x1 = np.linspace(0, 1.02, 103)
        x2 = 10 * (value - x1**2 / 2 + x1 / 2)
        inside = (x2 >= -0.02) & (x2 <= 0.9)
        levels += [np.column_stack([x1, np.where(inside, x2, np.nan)]), np.full((1, 2), np.nan)]
    edge = np.array([[0.5, 0.5], [1.0, 0.0]])
    shapes = {"Z": VERTICES, "levels of f": np.concatenate(levels), "lower-level solutions": edge}
    curves = [Curve(label, {"x1": points[:, 0]}, points[:, 1], "shape") for label, points in shapes.items()]
    curves += [Curve(label, {"x1": run["x"][:, 0]}, run["x"][:, 1]) for label, run in runs.items()]
    curves.append(Curve("answer", {"x1": SOLUTION[:1]}, SOLUTION[1:], "truth"))
    whole = "CG-BiO goes along the edge of lower-level solutions, from one end or from the other."
    close = "APDB leaves that edge on both sides and winds around the answer."
    window = (0.49, 0.71, 0.32, 0.51)
    return (
        Panel("trajectory", "Iterates", "x2", tuple(curves), log=False, equal_axes=True, caption=whole),
        Panel("answer", "Iterates near the answer", "x2", tuple(curves), False, False, True, close, window),
    )


def _gaps(runs: dict[str, Made], folder: Path | None) -> tuple[Panel, ...]:
    def curves(level: str, star: float) -> tuple[Curve, ...]:
        axes = {
            name: {"updates": np.arange(float(len(run["x"]))), "seconds": run["seconds"]} for name, run in runs.items()
        }
        return tuple(Curve(label, axes[label], np.abs(run[level] - star)) for label, run in runs.items())

    lower = "CG-BiO never leaves the level of its start; APDB swings across it."
    upper = "All four runs end a little below f*, since none ends exactly in the lower-level solution set."
    made = (
        Panel("lower", "Lower-level gap", "|g − g*|", curves("g", G_STAR), caption=lower),
        Panel("upper", "Upper-level gap", "|f − f*|", curves("f", F_STAR), caption=upper),
    )
    note = "the published curves."
    return tuple(overlaid(panel, folder, f"toy_{panel.name}", note, "updates") for panel in made)


def _table(runs: dict[str, Made]) -> Table:
    rows = tuple(
        (
            name,
            updates_of(run),
            float(run["x"][-1, 0]),
            float(run["x"][-1, 1]),
            float(run["f"][-1] - F_STAR),
            float(run["g"][-1] - G_STAR),
        )
        for name, run in runs.items()
    )
    header = ("run", "updates", "x1", "x2", "f − f*", "g − g*")
    return Table(
        "Where each run ends", header, rows, "A negative f − f* is a point better than any lower-level solution."
    )
