"""Bilevel problems with norms whose optimal values are known by two routes.

Route 1: the lower solutions as linear equations and inequalities, by construction, and f over them by Clarabel.
Route 2: g* by Clarabel, then f over {g <= g* + 1e-8}, which is a little below.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cvxpy as cp
import numpy as np

import tiebreak as tb

TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
GROUPS = [[0, 1, 2], [3, 4, 5]]


@dataclass(frozen=True)
class Known:
    """A problem, f* and g* by route 1, and f* by route 2."""

    problem: tb.Problem
    f_star: float
    g_star: float
    f_relaxed: float


def _solve(objective: cp.Expression, constraints: list) -> float:
    programme = cp.Problem(cp.Minimize(objective), constraints)
    programme.solve(**TIGHT)
    assert programme.status in ("optimal", "optimal_inaccurate")
    return float(programme.value)


def _known(problem: tb.Problem, f, g, x: cp.Variable, within: list, solutions: list, g_star: float) -> Known:
    lowest = _solve(g, within)
    assert abs(lowest - g_star) <= 1e-8
    return Known(problem, _solve(f, within + solutions), g_star, _solve(f, [*within, g <= g_star + 1e-8]))


def _domain(name: str, x: cp.Variable) -> tuple[tb.Domain, list]:
    if name == "l2 ball":
        return tb.L2Ball(4.0), [cp.norm(x) <= 4]
    if name == "box":
        return tb.Box(-2.0, 3.0), [x >= -2, x <= 3]
    assert name == "l1 ball"
    return tb.L1Ball(4.5), [cp.norm(x, 1) <= 4.5]


@cache
def sparse_interpolation(where: str) -> Known:
    """f = a weighted l1 norm, g = 1/2 ||A x - b||^2 with A x = b solvable."""
    A = np.array([[1.0, 1, 0, -1, 0, 1], [0.0, 1, 1, 0, -1, -1]])
    b, w = np.array([1.0, 0.5]), np.array([1.0, 2.0, 1.5, 1.0, 1.0, 3.0])
    x = cp.Variable(6)
    domain, within = _domain(where, x)
    problem = tb.Problem(tb.L1Norm(w), tb.LeastSquares(A, b), domain)
    g = cp.sum_squares(A @ x - b) / 2
    return _known(problem, cp.norm(cp.multiply(w, x), 1), g, x, within, [A @ x == b], 0.0)


def _twice(b: np.ndarray, tau: float) -> tuple[tb.Objective, cp.Variable, cp.Expression, list, float]:
    """g = 1/2 ||u + v - b||^2 + tau ||(u, v)||_1: u + v is the soft threshold w of b, both with its signs."""
    A, w = np.hstack([np.eye(3), np.eye(3)]), np.sign(b) * np.maximum(np.abs(b) - tau, 0)
    x = cp.Variable(6)
    sign = np.sign(w)
    solutions = [A @ x == w, cp.multiply(sign, x[:3]) >= 0, cp.multiply(sign, x[3:]) >= 0]
    solutions += [x[i] == 0 for i in range(6) if w[i % 3] == 0]
    g = cp.sum_squares(A @ x - b) / 2 + tau * cp.norm(x, 1)
    g_star = float(((w - b) ** 2).sum() / 2 + tau * np.abs(w).sum())
    return tb.LeastSquares(A, b) + tau * tb.L1Norm(), x, g, solutions, g_star


CENTER = np.array([1.0, 1.0, 0.5, 1.5, 0.3, -1.0])


@cache
def smooth_over_lasso(where: str) -> Known:
    """A smooth f over the solutions of a lasso with duplicate columns."""
    lower, x, g, solutions, g_star = _twice(np.array([2.0, -1.0, 0.05]), 0.1)
    domain, within = _domain(where, x)
    problem = tb.Problem(tb.SquaredNorm(CENTER), lower, domain)
    return _known(problem, cp.sum_squares(x - CENTER) / 2, g, x, within, solutions, g_star)


@cache
def norms_on_both_levels(where: str) -> Known:
    """An l1 norm in f and in g."""
    lower, x, g, solutions, g_star = _twice(np.array([2.0, -1.0, 0.05]), 0.1)
    domain, within = _domain(where, x)
    w = np.array([0.0, 0.2, 1.0, 0.5, 0.5, 0.5])
    problem = tb.Problem(tb.SquaredNorm(CENTER) + tb.L1Norm(w), lower, domain)
    f = cp.sum_squares(x - CENTER) / 2 + cp.norm(cp.multiply(w, x), 1)
    return _known(problem, f, g, x, within, solutions, g_star)


@cache
def groups_over_lasso(where: str) -> Known:
    """Group norms in f, an l1 norm in g."""
    lower, x, g, solutions, g_star = _twice(np.array([2.0, -1.0, 0.05]), 0.1)
    domain, within = _domain(where, x)
    problem = tb.Problem(tb.SquaredNorm(CENTER) + tb.GroupNorm(GROUPS, [1.0, 0.5]), lower, domain)
    f = cp.sum_squares(x - CENTER) / 2 + cp.norm(x[:3]) + 0.5 * cp.norm(x[3:])
    return _known(problem, f, g, x, within, solutions, g_star)


KNOWN = {
    "sparse interpolation, l2 ball": (sparse_interpolation, "l2 ball"),
    "sparse interpolation, l1 ball": (sparse_interpolation, "l1 ball"),
    "smooth over lasso, box": (smooth_over_lasso, "box"),
    "both levels, box": (norms_on_both_levels, "box"),
    "both levels, l1 ball": (norms_on_both_levels, "l1 ball"),
    "groups over lasso, l2 ball": (groups_over_lasso, "l2 ball"),
}
