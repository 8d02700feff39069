"""f* and g* of a regression by a conic solver that shares nothing with the library's engines: Clarabel (P. Goulart,
Y. Chen, 2024), as the paper's authors asked CVX.

With hundreds of features a dense conic programme takes minutes, so features are generated: the programme is solved
for some of them, and the price of a feature at its solution tells which others are missing. Weak duality over all
features bounds the error, whatever the solver says of itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics import clarabel
from ...objectives import LeastSquares
from ...problem import Problem
from ...sets import L1Ball


@dataclass(frozen=True)
class Conic:
    """A value, a bound below the true minimum, the point, the price of the level, and the features generated."""

    value: float
    bound: float
    x: Vector
    multiplier: float
    features: NDArray[np.int_]


def conic(problem: Problem, slack: float | None = None, *, tol: float = 1e-9) -> Conic:
    """Minimise the lower level over the l1 ball; with a ``slack``, then the upper level subject to g <= g* + slack.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.LeastSquares([[1.0, 0.0]], [0.0]), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> round(conic(problem).value, 7), round(conic(problem, slack=1e-3).value, 7)
    (0.0, 0.0)
    """
    upper, lower, ball = problem.upper, problem.lower, problem.domain
    assert isinstance(upper, LeastSquares) and isinstance(lower, LeastSquares) and isinstance(ball, L1Ball)
    if slack is None:
        level, chosen = None, np.unique(np.linspace(0, problem.dim - 1, min(80, problem.dim)).round().astype(int))
    else:  # features with which the level can be reached
        first = conic(problem, tol=tol)
        level, chosen = first.value + slack, first.features
    best = -np.inf
    while True:
        part, multiplier = _restricted(upper, lower, ball.radius, level, chosen)
        x = np.zeros(problem.dim)
        x[chosen] = part
        x *= min(1.0, ball.radius / max(float(np.abs(x).sum()), 1e-300))
        g, slope = lower.value_and_grad(x)
        value = g
        if level is not None:
            value, a = upper.value_and_grad(x)
            slope = a + multiplier * slope
        # min over Z of the Lagrangian >= its value at x minus its Frank-Wolfe gap there
        excess = 0.0 if level is None else multiplier * (g - level)
        gap = float(slope @ x) + ball.radius * float(np.abs(slope).max())
        best = max(best, value + excess - gap)
        missing = np.setdiff1d(np.argsort(-np.abs(slope))[:40], chosen)
        if gap <= tol * (1 + abs(value)) or not missing.size:
            return Conic(value, best, x, multiplier, chosen)
        chosen = np.union1d(chosen, missing)


def _restricted(
    upper: LeastSquares, lower: LeastSquares, radius: float, level: float | None, chosen: NDArray[np.int_]
) -> tuple[Vector, float]:
    """The minimiser over some features, and the price of the level in units of g."""
    from scipy import sparse

    G, h = _triangle(lower, chosen)
    blocks: list[tuple[Vector, Vector]] = [(G, h)]
    if level is not None:
        blocks.append(_triangle(upper, chosen))
    d, sizes = len(chosen), [len(h) for _, h in blocks]
    # variables: the positive and the negative part of x, then the residuals of each block
    residuals = sparse.block_diag([sparse.eye(size) for size in sizes])
    fits = np.vstack([np.hstack([F, -F]) for F, _ in blocks])
    rows: list[Any] = [sparse.hstack([sparse.csc_matrix(fits), -residuals])]
    right = [np.concatenate([y for _, y in blocks])]
    rows.append(sparse.hstack([-sparse.eye(2 * d), sparse.csc_matrix((2 * d, sum(sizes)))]))
    rows.append(sparse.csc_matrix(np.concatenate([np.ones(2 * d), np.zeros(sum(sizes))])[None, :]))
    right += [np.zeros(2 * d), np.array([radius])]
    cones = [("zero", sum(sizes)), ("nonnegative", 2 * d + 1)]
    reach = 0.0 if level is None else float(np.sqrt(2 * level))
    if level is not None:
        select = np.zeros((sizes[0] + 1, 2 * d + sum(sizes)))
        select[1:, 2 * d : 2 * d + sizes[0]] = -np.eye(sizes[0])
        rows.append(sparse.csc_matrix(select))
        right.append(np.concatenate([[reach], np.zeros(sizes[0])]))
        cones.append(("second-order", sizes[0] + 1))
    weight = np.zeros(2 * d + sum(sizes))
    weight[len(weight) - sizes[-1] :] = 1.0
    P, A = sparse.diags_array(weight, format="csc"), sparse.vstack(rows, format="csc")
    found = clarabel.solve_conic(P, np.zeros(len(weight)), A, np.concatenate(right), cones, tolerance=1e-11)
    x = found.x
    price = 0.0 if level is None else max(float(found.z[-sizes[0] - 1]), 0.0) / max(reach, 1e-300)
    return x[:d] - x[d : 2 * d], price


def _triangle(objective: LeastSquares, chosen: NDArray[np.int_]) -> tuple[Vector, Vector]:
    """A smaller system with the same squared error for all x on these features."""
    A, b = np.asarray(objective.A)[:, chosen] * objective.scale**0.5, objective.b * objective.scale**0.5
    R: Vector = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))
    return R[:, :-1], R[:, -1]
