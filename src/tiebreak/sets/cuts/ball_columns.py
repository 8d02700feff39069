"""The cut of matrices whose columns lie in unit balls, with its multiplier to full precision.

In column j, a_j = t_j c_j + p_j with p_j orthogonal to c_j. A minimiser of <a + lam c, .> is -(a_j + lam c_j) divided
by its norm h_j = hypot(|p_j|, u_j), u_j = |c_j| (lam + t_j), and

    <c, s(lam)> + sum_j |c_j|  =  sum_j |c_j| (1 - u_j / h_j)  =:  excess(lam)

falls to 0 as lam grows. The multiplier is where it meets b + sum_j |c_j|. After one pass over the matrices an
evaluation costs a few operations a column; all terms are positive, so that nothing cancels, however large lam is. Far
out the excess falls like lam^-2, so Newton's method is applied to excess^(-1/2), which is almost linear there, within
a bracket. Where a column has p_j = 0 the excess jumps, and the answer mixes the minimisers on both sides of the jump.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TypeAlias

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector
from ...kernels import Group, Kernel, flat, loop
from ...kernels.unit_balls import ball_point, inner, sphere_excess, split_columns
from .crossing import EXACT, SHORTFALL

INACTIVE, ACTIVE, BOUNDARY, INFEASIBLE = range(4)
MAX_CALLS = 300

BallCut: TypeAlias = tuple[int, float, float, Matrix]
"""The status, the multiplier, a certified gap, and the point."""


def cut_ball_columns(A: Matrix, C: Matrix, b: float, warm: float, error: float = 0.0) -> BallCut:
    """A minimiser of <A, .> over the matrices with columns in the unit ball and <C, .> <= b.

    ``warm`` is a guess of the multiplier, ``error`` the size of the terms of b.
    """
    point = np.empty(A.shape)
    return *fast_ball_cut(flat(A), flat(C), float(b), float(warm), float(error), point), point


@loop()
def ball_cut(A: Matrix, C: Matrix, b: float, warm: float, error: float, point: Matrix) -> tuple[int, float, float]:
    """The cut as in ``cut_ball_columns``, its point written into an array; compiled as it is."""
    size_a, size_c, C, P, t, p, n = split_columns(A, C)
    b /= size_c
    total = n.sum()
    size, target = total + abs(b) + error / size_c, b + total
    if sphere_excess(0.0, t, p, n)[0] <= target + EXACT * size:
        point[:] = ball_point(0.0, P, C, t, p, n)
        return INACTIVE, 0.0, 0.0
    if target <= 0.0:
        status = INFEASIBLE if target < -SHORTFALL * size else BOUNDARY
        point[:] = ball_point(inf, P, C, t, p, n)
        return status, inf, inf
    low, high = find_multiplier(target, UNIT_ROUNDOFF * size, warm * size_c / size_a, t, p, n)
    point[:] = ball_point(low, P, C, t, p, n)
    above, _, height = sphere_excess(low, t, p, n)
    if high > low:
        above, below = max(above - target, 0.0), max(target - sphere_excess(high, t, p, n)[0], 0.0)
        share = below / (above + below) if above + below > 0.0 else 0.0
        point *= share
        point += (1.0 - share) * ball_point(high, P, C, t, p, n)
    gap = inner(A, point) + size_a * (height + low * b)  # <a, point> minus the dual value
    return ACTIVE, low * size_a / size_c, max(gap, 0.0)


@loop()
def find_multiplier(target: float, tol: float, warm: float, t: Vector, p: Vector, n: Vector) -> tuple[float, float]:
    """Multipliers (low, high) with excess(low) >= target >= excess(high) that are one, or next to each other.

    ``target`` is positive and below excess(0).
    """
    low, high, lam = 0.0, inf, warm if 0.0 < warm < inf else 1.0
    root, patience, width = 1.0 / sqrt(target), 3, inf
    for _ in range(MAX_CALLS):
        value, slope, _ = sphere_excess(lam, t, p, n)
        if abs(value - target) <= tol:
            return lam, lam
        if value > target:
            low = lam
        else:
            high = lam
        new = lam + 2.0 * value * (1.0 - root * sqrt(value)) / slope if slope < 0.0 else -1.0
        if high - low <= 0.5 * width:
            patience, width = 3, high - low
        else:
            patience -= 1
        if not low < new < high or patience < 0:
            patience = 3
            if high == inf:
                new = 8.0 * lam
            elif high > 4.0 * low:
                new = sqrt(low) * sqrt(high) if low > 0.0 else high / 8.0
            else:
                new = low + 0.5 * (high - low)
        if not low < new < high:  # no number is between them
            return low, high
        lam = new
    return low, high if high < inf else low


fast_ball_cut = Kernel(ball_cut, Group("the cut oracle of columns in balls", 7.0))
