"""One evaluation of the dual of a cut of balls, and what it needs: twins of ``sets/ball_columns.py``."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .jit import FUSED, jit


@jit(FUSED)
def split_columns(A: Matrix, C: Matrix) -> tuple[Matrix, Vector, Vector, Vector]:
    """A = C diag(t) + P with columns of P orthogonal to those of C: P, t, and the norms of the columns of P and C."""
    rows, count = A.shape
    P = A.copy()
    t, p, squares, part = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    for i in range(rows):
        for j in range(count):
            squares[j] += C[i, j] * C[i, j]
    for _ in range(2):  # as what is left of an a_j nearly parallel to c_j is inexact
        part[:] = 0.0
        for i in range(rows):
            for j in range(count):
                part[j] += P[i, j] * C[i, j]
        for j in range(count):
            part[j] = part[j] / squares[j] if squares[j] > 0.0 else 0.0
            t[j] += part[j]
        for i in range(rows):
            for j in range(count):
                P[i, j] -= part[j] * C[i, j]
    for i in range(rows):
        for j in range(count):
            p[j] += P[i, j] * P[i, j]
    p, n = np.sqrt(p), np.sqrt(squares)
    for j in range(count):
        if p[j] <= 4 * UNIT_ROUNDOFF * abs(t[j]) * n[j]:  # noise, in any direction
            p[j] = 0.0
            P[:, j] = 0.0
    return P, t, p, n


@jit(FUSED)
def sphere_excess(lam: float, t: Vector, p: Vector, n: Vector) -> tuple[float, float]:
    """sum n (1 - u / h) with u = n (lam + t), h = sqrt(p^2 + u^2), without cancellation; and its slope."""
    value = slope = 0.0
    for j in range(t.size):
        u = n[j] * (lam + t[j])
        h = sqrt(p[j] * p[j] + u * u)
        if h == 0.0:
            continue
        sine, cosine = p[j] / h, u / h
        value += n[j] * (sine * sine / (1.0 + cosine) if u >= 0.0 else 1.0 - cosine)
        slope -= n[j] * sine * n[j] * sine / h
    return value, slope
