"""How much of the field ``tb.solve(problem)`` answers with its defaults: sets x lower levels x upper levels.

    python benchmarks/proved_share.py [--seeds 3] [--seconds 10] [--sets none,box] [--nonconvex] [--round] [--quiet]

Small problems, each in one of these classes: *two-sided* (both tolerances proved, and f* in a bracket of relative width
1e-6), *proved* (the tolerances), *refused* (the status is UNBOUNDED, and the message has the ray), *open* (none of
these). Successes are held against CVXPY: the least f with g(x) <= g* + eps is a number that f* is not below, so that an
upper bound on f* which is below it, beyond what such a solver can be trusted with, is listed; so is a lower bound on g*
above what the solver attains, and a level that one of both calls unbounded and the other does not.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

import tiebreak as tb

ORDER = 3
N = ORDER**2
"""Variables: as many as a Birkhoff polytope of that order has."""

WIDTH = 1e-6
EPS = 1e-6
TRUSTED = 1e-3
"""What the reference is trusted with, relative to 1 + |f|: it is wrong by more only where it says so."""


class Made(NamedTuple):
    """A part of a problem, and the same for CVXPY: an expression of x, or constraints on it."""

    ours: Any
    theirs: Callable[[Any], Any]


def lower_levels(rng: np.random.Generator) -> dict[str, Made]:
    n = N
    tall, wide, few = rng.normal(size=(3 * n, n)), rng.normal(size=(n // 2, n)), rng.normal(size=(5, n))
    x = np.abs(rng.normal(size=n)) / n
    b_tall, b_wide = tall @ x + 0.3 * rng.normal(size=3 * n), wide @ x
    y = np.where(tall @ rng.normal(size=n) + 3 * rng.normal(size=3 * n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    signs, counts = np.where(np.arange(n // 2) % 2, 1.0, -1.0), rng.poisson(1.5, 3 * n).astype(float)
    costs = rng.integers(0, 3, n).astype(float)
    root = rng.integers(-8, 9, (n // 2, n)) / 8  # so that Q and q are the products they stand for, and have their rank
    q = root.T @ (rng.integers(-8, 9, n // 2) / 8)
    small = tall / 3

    def poisson(v: Any) -> Any:
        return cp.sum(cp.exp(small @ v) - cp.multiply(counts, small @ v)) / (3 * n)

    def hinge(v: Any) -> Any:
        return cp.sum_squares(cp.pos(1 - cp.multiply(signs, wide @ v))) / (n // 2)

    return {
        "LS tall": Made(tb.LeastSquares(tall, b_tall), lambda v: cp.sum_squares(tall @ v - b_tall) / 2),
        "LS wide": Made(tb.LeastSquares(wide, b_wide), lambda v: cp.sum_squares(wide @ v - b_wide) / 2),
        "linear": Made(tb.Linear(costs), lambda v: costs @ v),
        "quadratic": Made(tb.Quadratic(root.T @ root, q), lambda v: cp.sum_squares(root @ v) / 2 + q @ v),
        "logistic": Made(
            tb.Logistic(tall, y), lambda v: cp.sum(cp.logistic(cp.multiply(-y, tall @ v))) / (3 * n)
        ),
        "poisson": Made(tb.Poisson(small, counts), poisson),
        "huber": Made(tb.Huber(tall, b_tall, 0.2), lambda v: cp.sum(cp.huber(tall @ v - b_tall, 0.2)) / 2),
        "hinge": Made(tb.SquaredHinge(wide, signs), hinge),
        "lasso": Made(
            tb.LeastSquares(wide, b_wide) + 0.05 * tb.L1Norm(),
            lambda v: cp.sum_squares(wide @ v - b_wide) / 2 + 0.05 * cp.norm1(v),
        ),
        "max affine": Made(tb.MaxAffine(few, np.ones(5)), lambda v: cp.max(few @ v - 1)),
    }  # fmt: skip


def upper_levels(rng: np.random.Generator, nonconvex: bool) -> dict[str, Made]:
    n = N
    A, b = rng.normal(size=(2 * n, n)), rng.normal(size=2 * n)
    y, c = np.where(np.arange(2 * n) % 2, 1.0, -1.0), rng.normal(size=n)
    if nonconvex:
        Q = rng.normal(size=(n, n))
        group = (np.arange(2 * n) % 3 == 0).astype(float)
        nothing = Made(None, lambda v: None).theirs
        return {
            "covariance": Made(tb.SquaredCovariance(A, group), nothing),
            "saddle": Made(tb.Quadratic(Q + Q.T, c), nothing),
        }
    return {
        "norm": Made(tb.SquaredNorm(dim=n), lambda v: cp.sum_squares(v) / 2),
        "linear": Made(tb.Linear(c), lambda v: c @ v),
        "LS": Made(tb.LeastSquares(A, b), lambda v: cp.sum_squares(A @ v - b) / 2),
        "l1": Made(tb.L1Norm(), cp.norm1),
        "logistic": Made(tb.Logistic(A, y), lambda v: cp.sum(cp.logistic(cp.multiply(-y, A @ v))) / (2 * n)),
        "huber": Made(tb.Huber(A, b, 0.3), lambda v: cp.sum(cp.huber(A @ v - b, 0.3)) / 2),
    }


def domains(rng: np.random.Generator, round_ones: bool) -> dict[str, Made]:
    n = N
    if round_ones:
        groups = np.arange(n) // 3
        return {
            "L2": Made(tb.L2Ball(1.0), lambda v: [cp.norm2(v) <= 1]),
            "L1.5": Made(tb.LpBall(1.5, 1.0), lambda v: [cp.pnorm(v, 1.5) <= 1]),
            "L3": Made(tb.LpBall(3.0, 1.0), lambda v: [cp.pnorm(v, 3) <= 1]),
            "group": Made(
                tb.GroupBall(groups, 1.0), lambda v: [sum(cp.norm2(v[3 * k : 3 * k + 3]) for k in range(n // 3)) <= 1]
            ),
            "nuclear": Made(
                tb.NuclearBall((ORDER, ORDER), 1.0),
                lambda v: [cp.normNuc(cp.reshape(v, (ORDER, ORDER), order="C")) <= 1],
            ),
            "spectrahedron": Made(
                tb.Spectrahedron(ORDER, 1.0),
                lambda v: [
                    (M := cp.reshape(v, (ORDER, ORDER), order="C")) == M.T,
                    (M + M.T) / 2 >> 0,
                    cp.trace(M) == 1,
                ],
            ),
            "L2 x box": Made(
                tb.Product({"ball": (tb.L2Ball(1.0), 6), "box": (tb.Box(-1.0, 1.0), n - 6)}),
                lambda v: [cp.norm2(v[:6]) <= 1, cp.norm_inf(v[6:]) <= 1],
            ),
            "L2 x L3": Made(
                tb.Product({"ball": (tb.L2Ball(1.0), 6), "other": (tb.LpBall(3.0, 1.0), n - 6)}),
                lambda v: [cp.norm2(v[:6]) <= 1, cp.pnorm(v[6:], 3) <= 1],
            ),
        }
    A = rng.normal(size=(6, n))
    b = A @ rng.random(n) + 0.5

    def doubly_stochastic(v: Any) -> Any:
        M = cp.reshape(v, (ORDER, ORDER), order="C")
        return [v >= 0, cp.sum(M, axis=0) == 1, cp.sum(M, axis=1) == 1]

    return {
        "none": Made(None, lambda v: []),
        "orthant": Made(tb.Box(0.0, np.inf), lambda v: [v >= 0]),
        "box": Made(tb.Box(-0.3, 0.3), lambda v: [v >= -0.3, v <= 0.3]),
        "l1": Made(tb.L1Ball(1.0), lambda v: [cp.norm1(v) <= 1]),
        "simplex": Made(tb.Simplex(), lambda v: [v >= 0, cp.sum(v) == 1]),
        "k-sparse": Made(tb.KSparse(3, 1.0), lambda v: [cp.norm1(v) <= 3, cp.norm_inf(v) <= 1]),
        "birkhoff": Made(tb.Birkhoff(ORDER), doubly_stochastic),
        "polyhedron": Made(tb.Polyhedron(A, b, bounds=(0, None)), lambda v: [A @ v <= b, v >= 0]),
    }


def problems(seeds: int, asked: argparse.Namespace) -> Iterator[tuple[str, str, str, int, tuple[Made, Made, Made]]]:
    for seed in range(seeds):
        rng = np.random.default_rng([asked.draw, seed])
        low, up, sets = lower_levels(rng), upper_levels(rng, asked.nonconvex), domains(rng, asked.round)
        for name, domain in sets.items():
            if not asked.sets or name in asked.sets.split(","):
                for lower in low:
                    for upper in up:
                        yield name, lower, upper, seed, (domain, low[lower], up[upper])


def judged(result: tb.Result, nonconvex: bool) -> str:
    """The class of an answer."""
    claim = result.certificate
    if result.status == "unbounded":
        return "refused"
    if nonconvex:
        return "proved" if result.success else "open"  # f is constant, f - f* is small, or f is stationary there
    if not result.success:
        return "open"
    narrow = claim.f_upper - claim.f_lower <= WIDTH * (1 + abs(result.f))
    return "two-sided" if narrow else "proved"


def contradicted(result: tb.Result, parts: tuple[Made, Made, Made]) -> str:
    """What CVXPY says against the bracket; empty where nothing, or where it has no answer."""
    domain, lower, upper = parts
    x = cp.Variable(N)
    constraints = domain.theirs(x)
    f, g, claim = upper.theirs(x), lower.theirs(x), result.certificate
    try:
        best = cp.Problem(cp.Minimize(g), constraints).solve(solver=cp.CLARABEL)
        if x.value is None or not np.isfinite(best):
            return "" if result.status == "unbounded" else f"the reference finds the lower level {best}"
        allowed = max(best, claim.g_lower) + EPS * (1 + abs(best))
        least = cp.Problem(cp.Minimize(f), [*constraints, g <= allowed]).solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return ""
    if x.value is None or not np.isfinite(least):
        return "" if result.status == "unbounded" else f"the reference finds the upper level {least}"
    if claim.f_upper < least - TRUSTED * (1 + abs(least)):
        return f"f* <= {claim.f_upper:.9g}, but f >= {least:.9g} with g <= g* + {EPS:g}"
    if result.status == "unbounded":
        return ""
    if best < claim.g_lower - TRUSTED * (1 + abs(best)):
        return f"g* >= {claim.g_lower:.9g}, but {best:.9g} is attained"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draw", type=int, default=12, help="which problems are drawn")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--sets", default="")
    parser.add_argument("--nonconvex", action="store_true")
    parser.add_argument("--round", action="store_true")
    parser.add_argument("--quiet", action="store_true", help="counts only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    classes: dict[str, Counter[str]] = {}
    wrong, began = [], time.perf_counter()
    for name, low, up, seed, parts in problems(asked.seeds, asked):
        label = f"{name} / {low} / {up} / {seed}"
        started = time.perf_counter()
        try:
            problem = tb.Problem(parts[2].ours, parts[1].ours, parts[0].ours)
            result = tb.solve(problem, max_time=asked.seconds)
            kind, why = judged(result, asked.nonconvex), result.message
            if not asked.nonconvex and kind != "open" and (complaint := contradicted(result, parts)):
                wrong.append(f"{label}: {complaint}")
        except Exception as error:
            kind, why = "error", f"{type(error).__name__}: {error}"
        taken = time.perf_counter() - started
        for row in (name, f"lower {low}", f"upper {up}", "all"):
            classes.setdefault(row, Counter())[kind] += 1
        if kind in ("open", "error", "proved") and not asked.quiet and not (asked.nonconvex and kind == "proved"):
            print(f"{kind:<9} {label}  ({taken:.1f} s)  {why[:150]}", flush=True)
    kinds = ("two-sided", "proved", "refused", "open", "error")
    print(f"\n{'':<22}" + "".join(f"{kind:>11}" for kind in kinds))
    for row, counts in classes.items():
        print(f"{row:<22}" + "".join(f"{counts[kind]:>11}" for kind in kinds))
    print(f"\ncontradicted by the reference: {len(wrong)}", *wrong, sep="\n  ")
    total, good = classes["all"].total(), sum(classes["all"][kind] for kind in kinds[:3])
    print(f"proved or refused {good} of {total} ({good / total:.1%}), {time.perf_counter() - began:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    assert harness
    raise SystemExit(main())
