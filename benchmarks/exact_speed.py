"""Time and accuracy of exact solves, side by side with what a user would write by hand, in one process.

    python benchmarks/exact_speed.py [--only regression interpolation forms assignment small chains] [--quick]

Errors are relative to f*, from ``reference.py``; times are processor times, the least of several, one thread.
Ratios are other / exact. Every part has its own files in results/: a table, the numbers, and a plot of time and error.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import peers
import tiebreak as tb
from families import FAMILIES
from families_rows import incidence, tied_plans
from family import Family
from harness import Table, seconds, side_by_side

CLARABEL = {"solver": "CLARABEL", "max_threads": 1}
TEXTBOOK = 20.0
"""Seconds that CG-BiO as in its paper is given: the table has what it reaches."""

TOLERANCES = {"tol_upper": 1e-8, "tol_lower": 1e-8}
INTERPOLATION = (
    *((25, 60, 20, factor) for factor in (1.2, 1.5, 2.0, 3.0)),
    (40, 150, 30, 1.6),
    *((120, 400, 80, factor) for factor in (1.2, 1.5, 2.0, 3.0)),
    *((60, 730, 213, factor) for factor in (1.2, 1.5, 2.0, 3.0)),
    (200, 1000, 100, 1.5),
)


Series = dict[str, tuple[list[float], list[float]]]


def draw(name: str, title: str, points: list[tuple[str, float, float]]) -> None:
    """Time against error, a colour a method."""
    series: Series = {}
    for label, across, up in points:
        series.setdefault(label, ([], []))[0].append(across)
        series[label][1].append(max(up, 1e-17))
    harness.plot(f"exact_speed_{name}", title, series, "processor time, s", "error of f, relative")


def exact(known: Family) -> np.ndarray:
    return tb.solve(known.problem, "exact", **TOLERANCES).x


def auto(known: Family) -> np.ndarray:
    return tb.solve(known.problem, **TOLERANCES).x


def both_ways(known: Family, run: Callable[[Family], np.ndarray] = exact) -> dict[str, Callable[[], np.ndarray]]:
    """The exact solve with numba and without."""

    def plain() -> np.ndarray:
        with harness.without_numba():
            return run(known)

    found: dict[str, Callable[[], np.ndarray]] = {"exact, NumPy": plain}
    if harness.has("numba"):
        run(known)  # what is compiled at this size first is compiled here
        found["exact, numba"] = partial(run, known)
    return found


def errors(known: Family, x: np.ndarray) -> tuple[float, float]:
    """|f - f*| relative to f* (absolute where f* is zero), and g - g*."""
    f = known.levels[-1].value(x) - known.f_star
    return abs(f) / (abs(known.f_star) if abs(known.f_star) > 1e-12 else 1.0), known.levels[0].value(x) - known.g_star


def regression(quick: bool) -> list[Table]:
    columns = ("radius", "nonzeros", "method", "time", "f error", "g - g*", "/ numba", "/ NumPy")
    table = Table("Regression stand-in, 641 x 730 training, 213 validation rows", columns)
    points = []
    for radius in (1.0,) if quick else (1.0, 2.0, 5.0):
        known = FAMILIES["regression"].generate(0, radius)
        nonzeros = int(np.count_nonzero(exact(known)))
        rivals: dict[str, Callable[[], np.ndarray]] = {
            f"cvxpy + Clarabel, {form} form": partial(peers.cvxpy_l1, known, form, **CLARABEL)
            for form in ("value", "norm", "equality")
        }
        # where these iterations do not suffice, 400 do not either, and they take minutes
        rivals["PIQP, equality form, at most 60 iterations"] = partial(peers.piqp_l1, known, 60)
        if radius == 1.0:
            rivals[f"textbook CG-BiO with linprog, {TEXTBOOK:g} s"] = partial(peers.textbook_cg_bio, known, TEXTBOOK)
        if harness.has("scs") and radius == 1.0:
            rivals["cvxpy + SCS, equality form"] = partial(peers.cvxpy_l1, known, "equality", **scs_options())
        if harness.has("sklearn"):
            steps = peers.lars_steps(known)
            rivals["lars_path, lower level only"] = partial(peers.lars_l1, known)
            rivals["lars_path, told when to stop"] = partial(peers.lars_l1, known, steps)
        times = side_by_side(both_ways(known) | rivals)
        fast, plain = times.get("exact, numba", (np.nan,))[0], times["exact, NumPy"][0]
        for name, (best, x) in times.items():
            ratio = (best / fast, best / plain)
            f_error, g_error = errors(known, x)
            table.add(radius, nonzeros, name, seconds(best), f"{f_error:.1e}", f"{g_error:.1e}", *ratio)
            points.append((name, best, f_error))
    draw("regression", "Regression stand-in, radius 1, 2, 5", points)
    return [table]


def scs_options() -> dict[str, Any]:
    return {"solver": "SCS", "eps_abs": 1e-9, "eps_rel": 1e-9, "time_limit_secs": 20.0, "max_iters": 10**6}


def interpolation(quick: bool) -> list[Table]:
    columns = (
        "n, d, m, factor", "f*", "numba", "NumPy", "f error", "reference error", "cvxpy, both solves", "its f error",
        "/ numba", "/ NumPy", "cvxpy, told A x = b", "/ numba", "/ NumPy", "PIQP", "its f error",
    )  # fmt: skip
    table = Table("Interpolation regime against the equality form", columns)
    ratios: dict[str, list[float]] = {"numba": [], "NumPy": [], "numba, told": [], "NumPy, told": []}
    worst, points = 0.0, []
    for size in INTERPOLATION[:6] if quick else INTERPOLATION:
        known = FAMILIES["interpolation"].generate(0, size)
        rivals = {
            "cvxpy + Clarabel, both solves": partial(peers.cvxpy_l1, known, "equality", **CLARABEL),
            "cvxpy + Clarabel, told": partial(peers.cvxpy_l1, known, "equality", told=True, **CLARABEL),
            "PIQP, both solves": partial(peers.piqp_l1, known),
        }
        times = side_by_side(both_ways(known) | rivals)
        (both, x_both), (told, _), (piqp, x_piqp) = (times.pop(name) for name in rivals)
        fast, plain = times.get("exact, numba", (np.nan,))[0], times["exact, NumPy"][0]
        own = max(errors(known, x)[0] for _, x in times.values())
        worst = max(worst, own)
        points += [(name, best, errors(known, x)[0]) for name, (best, x) in times.items()]
        points += [("cvxpy + Clarabel, both solves", both, errors(known, x_both)[0])]
        points += [("PIQP, both solves", piqp, errors(known, x_piqp)[0])]
        for name, ratio in zip(ratios, (both / fast, both / plain, told / fast, told / plain), strict=True):
            ratios[name].append(ratio)
        table.add(
            ", ".join(map(str, size)), known.f_star, seconds(fast), seconds(plain), f"{own:.1e}",
            f"{known.tol / (known.f_star or 1.0) if known.f_star > 1e-12 else known.tol:.0e}",
            seconds(both), f"{errors(known, x_both)[0]:.0e}", both / fast, both / plain,
            seconds(told), told / fast, told / plain, seconds(piqp), f"{errors(known, x_piqp)[0]:.0e}",
        )  # fmt: skip
    draw("interpolation", "Interpolation regime, 25 x 60 to 200 x 1000", points)
    summary = Table("Interpolation regime: ratios", ("against", "geometric mean", "smallest"))
    for name, found in ratios.items():
        summary.add(name, float(np.exp(np.mean(np.log(found)))), min(found))
    summary.add("worst f error of exact", f"{worst:.1e}", "")
    return [table, summary]


def forms(quick: bool) -> list[Table]:
    """The accuracy of the usual forms where the lower level has many solutions."""
    points = []
    table = Table(
        "Forms of the second solve, interpolation", ("n, d, m, factor", "method", "time", "f error", "g - g*")
    )
    for size in ((25, 60, 20, 1.2),) if quick else ((25, 60, 20, 1.2), (120, 400, 80, 1.5), (60, 730, 213, 1.5)):
        known = FAMILIES["interpolation"].generate(0, size)
        runs = both_ways(known)
        for form in ("value", "norm", "equality"):
            runs[f"cvxpy + Clarabel, {form}"] = partial(peers.cvxpy_l1, known, form, **CLARABEL)
        runs["PIQP, equality"] = partial(peers.piqp_l1, known)
        if harness.has("scs"):
            runs["cvxpy + SCS, equality"] = partial(peers.cvxpy_l1, known, "equality", **scs_options())
        if size[0] == 25:
            book = partial(peers.textbook_cg_bio, known, TEXTBOOK)
            runs[f"textbook CG-BiO with linprog, {TEXTBOOK:g} s"] = book
        for name, (best, x) in side_by_side(runs).items():
            f_error, g_error = errors(known, x)
            table.add(", ".join(map(str, size)), name, seconds(best), f"{f_error:.1e}", f"{g_error:.1e}")
            points.append((name, best, f_error))
    draw("forms", "Forms of the second solve, interpolation", points)
    return [table]


def assignment(quick: bool) -> list[Table]:
    n = 60 if quick else 200
    cost = np.random.default_rng(9).integers(1, 5, (n, n))
    ones = np.ones(n, dtype=int)
    g_star, f = tied_plans(cost, ones, ones)
    domain = tb.Polyhedron(A_eq=incidence(n, n), b_eq=np.ones(2 * n), bounds=(0, 1))
    problem = tb.Problem(tb.SquaredNorm(dim=n * n), tb.Linear(cost.ravel().astype(float)), domain)
    table = Table(
        f"Tied assignment {n} x {n} ({n * n} variables), f* = {f.value:.15g} (error {f.error:.0e})",
        ("method", "time", "f - f*", "g - g*", "bracket width", "/ exact"),
    )
    runs: dict[str, Callable[[], Any]] = {
        "exact": lambda: tb.solve(problem, "exact", **TOLERANCES),
        "by hand": lambda: peers.piqp_equality_row(cost),
    }
    times = side_by_side(runs)
    (best, result), (by_hand, x) = times["exact"], times["by hand"]
    width = result.certificate.f_upper - result.certificate.f_lower
    table.add("exact, rows", seconds(best), result.f - f.value, result.g - g_star, f"{width:.1e}", 1.0)
    table.add("HiGHS, then PIQP with an equality row", seconds(by_hand), 0.5 * x @ x - f.value,
              float(cost.ravel() @ x) - g_star, "none", by_hand / best)  # fmt: skip
    return [table]


def small(quick: bool) -> list[Table]:
    known = FAMILIES["interpolation"].generate(0, (25, 60, 20, 1.5))
    table = Table('One warm tb.solve, 25 x 60, method "auto"', ("method", "time", "f error"))
    for name, (best, x) in side_by_side(both_ways(known, auto)).items():
        table.add(name, seconds(best), f"{errors(known, x)[0]:.1e}")
    return [table]


def chains(quick: bool) -> list[Table]:
    table = Table("Chains of levels", ("problem", "method", "time", "largest error of a level, relative to 1 + value"))
    runs: list[tuple[Family, dict[str, Callable[[], np.ndarray]]]] = []
    if harness.has("cobra"):
        for size in ("norm", "total", "chain"):
            known = FAMILIES["flux"].generate(0, size)
            rivals = {"HiGHS, prioritised": peers.highs_lexicographic} if size == "total" else {}
            runs.append((known, {name: partial(run, known) for name, run in rivals.items()}))
    for size in ((7, 3, "unit"), (30, 3, "unit"), (50, 4, "unit")):
        known = FAMILIES["hierarchy"].generate(0, size)
        rival = {"DAQP, hierarchical, unit rows": partial(peers.daqp_hierarchy, known)}
        runs.append((known, rival if harness.has("daqp") else {}))
    for known, rivals in runs:
        ours = {"exact": lambda k=known: tb.lexicographic(k.levels, k.domain).x}
        for name, (best, x) in side_by_side(ours | rivals).items():
            worst = max(abs(o.value(x) - v) / (1 + abs(v)) for o, v in zip(known.levels, known.values, strict=True))
            table.add(known.name, name, seconds(best), f"{worst:.1e}")
    return [table]


PARTS = {
    "small": small,
    "chains": chains,
    "assignment": assignment,
    "forms": forms,
    "interpolation": interpolation,
    "regression": regression,
}


def warm_up() -> None:
    """Compile what numba compiles and load what is loaded late, on a problem that is not measured."""
    known = FAMILIES["interpolation"].generate(1, (12, 30, 8, 1.5))
    exact(known)
    peers.cvxpy_l1(known, "equality", **CLARABEL)
    peers.piqp_l1(known)
    exact(FAMILIES["regression"].generate(1, (1.0, 60, 21)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="the smaller instances")
    arguments = parser.parse_args()
    warm_up()
    for name in arguments.only:
        harness.save(f"exact_speed_{name}", PARTS[name](arguments.quick))
    return 0


if __name__ == "__main__":
    sys.exit(main())
