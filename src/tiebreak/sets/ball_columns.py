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

from collections.abc import Callable
from math import inf, sqrt
from typing import TypeAlias

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from ..kernels import compiled_loop
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
    return *compiled_ball_cut()(A, C, b, warm, error, point), point


def compiled_ball_cut() -> Callable[[Matrix, Matrix, float, float, float, Matrix], tuple[int, float, float]]:
    """``ball_cut``, with kernels where there are any."""
    find = compiled_loop(find_multiplier, sphere_excess="sphere_excess")
    kernels = {name: name for name in ("split_columns", "sphere_excess", "ball_point", "inner")}
    return compiled_loop(ball_cut, find_multiplier=find, **kernels)


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


def inner(A: Matrix, B: Matrix) -> float:
    """The sum of all products of entries. Twin of the kernel of that name."""
    return float(np.vdot(A, B))


def split_columns(A: Matrix, C: Matrix) -> tuple[float, float, Matrix, Matrix, Vector, Vector, Vector]:
    """The largest entries of A and C; then, with both divided by these: C, the p_j as a matrix, t_j, |p_j| and |c_j|.

    Twin of the kernel of that name.
    """
    size_a, size_c = float(np.abs(A).max()) or 1.0, float(np.abs(C).max()) or 1.0
    P, C = A / size_a, C / size_c
    squares = (C * C).sum(axis=0)
    divisor, t = np.where(squares > 0, squares, 1.0), np.zeros(C.shape[1])
    for _ in range(2):  # as what is left of an a_j nearly parallel to c_j is inexact
        part = (P * C).sum(axis=0) / divisor
        t += part
        P -= part * C
    p, n = np.sqrt((P * P).sum(axis=0)), np.sqrt(squares)
    noise = p <= 4 * UNIT_ROUNDOFF * np.abs(t) * n
    P[:, noise] = p[noise] = 0.0
    return size_a, size_c, C, P, t, p, n


def sphere_excess(lam: float, t: Vector, p: Vector, n: Vector) -> tuple[float, float, float]:
    """excess(lam), its slope, and the sum of the h_j. Twin of the kernel of that name."""
    u = n * (lam + t)
    h = np.sqrt(p * p + u * u)
    safe = np.where(h > 0, h, 1.0)
    sine, cosine = p / safe, u / safe
    square = sine * sine
    terms = np.where(u >= 0, square / (1.0 + np.maximum(cosine, 0.0)), 1.0 - cosine)
    return float(n @ terms), -float((n * n) @ (square / safe)), float(h.sum())


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


def ball_point(lam: float, P: Matrix, C: Matrix, t: Vector, p: Vector, n: Vector) -> Matrix:
    """s(lam); among several minimisers, one with the smallest <c_j, s_j>. Twin of the kernel of that name."""
    if lam == inf:
        along, across = (n > 0).astype(float), (n == 0).astype(float)
    else:
        u = n * (lam + t)
        h = np.sqrt(p * p + u * u)
        any_point = h == 0
        h[any_point] = 1.0
        along, across = np.where(any_point, 1.0, u / h), p / h
    return C * (-along / np.where(n > 0, n, 1.0)) - P * (across / np.where(p > 0, p, 1.0))
