"""Linear functions over the unit balls of columns: what a cut of them is made of, see ``sets/cuts/ball_columns.py``."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .registry import SUMS, twin


def inner(A: Matrix, B: Matrix) -> float:
    """The sum of all products of entries."""
    return float(np.vdot(A, B))


@twin(inner, SUMS)
def _inner(A: Matrix, B: Matrix) -> float:
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total += A[i, j] * B[i, j]
    return total


def split_columns(A: Matrix, C: Matrix) -> tuple[float, float, Matrix, Matrix, Vector, Vector, Vector]:
    """The largest entries of A and C; then, with both divided by these, A = C diag(t) + P with columns of P orthogonal
    to those of C: C, P, t, and the norms p and n of the columns of P and C."""
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


@twin(split_columns, SUMS)
def _split_columns(A: Matrix, C: Matrix) -> tuple[float, float, Matrix, Matrix, Vector, Vector, Vector]:
    rows, count = A.shape
    size_a = size_c = 0.0
    for i in range(rows):
        for j in range(count):
            size_a, size_c = max(size_a, abs(A[i, j])), max(size_c, abs(C[i, j]))
    size_a, size_c = size_a if size_a > 0.0 else 1.0, size_c if size_c > 0.0 else 1.0
    P, scaled = np.empty((rows, count)), np.empty((rows, count))
    t, p, n, part = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    for i in range(rows):
        for j in range(count):
            P[i, j], scaled[i, j] = A[i, j] / size_a, C[i, j] / size_c
            n[j] += scaled[i, j] * scaled[i, j]
    for _ in range(2):  # as what is left of an a_j nearly parallel to c_j is inexact
        part[:] = 0.0
        for i in range(rows):
            for j in range(count):
                part[j] += P[i, j] * scaled[i, j]
        for j in range(count):
            part[j] = part[j] / n[j] if n[j] > 0.0 else 0.0
            t[j] += part[j]
        for i in range(rows):
            for j in range(count):
                P[i, j] -= part[j] * scaled[i, j]
    for i in range(rows):
        for j in range(count):
            p[j] += P[i, j] * P[i, j]
    for j in range(count):
        p[j], n[j] = sqrt(p[j]), sqrt(n[j])
        if p[j] <= 4 * UNIT_ROUNDOFF * abs(t[j]) * n[j]:  # noise, in any direction
            p[j] = 0.0
            for i in range(rows):
                P[i, j] = 0.0
    return size_a, size_c, scaled, P, t, p, n


def sphere_excess(lam: float, t: Vector, p: Vector, n: Vector) -> tuple[float, float, float]:
    """With u = n (lam + t) and h = sqrt(p^2 + u^2): sum n (1 - u / h), without cancellation; its slope; sum h."""
    u = n * (lam + t)
    h = np.sqrt(p * p + u * u)
    safe = np.where(h > 0, h, 1.0)
    sine, cosine = p / safe, u / safe
    square = sine * sine
    terms = np.where(u >= 0, square / (1.0 + np.maximum(cosine, 0.0)), 1.0 - cosine)
    return float(n @ terms), -float((n * n) @ (square / safe)), float(h.sum())


@twin(sphere_excess, SUMS)
def _sphere_excess(lam: float, t: Vector, p: Vector, n: Vector) -> tuple[float, float, float]:
    value = slope = height = 0.0
    for j in range(t.size):
        u = n[j] * (lam + t[j])
        h = sqrt(p[j] * p[j] + u * u)
        if h == 0.0:
            continue
        sine, cosine = p[j] / h, u / h
        value += n[j] * (sine * sine / (1.0 + cosine) if u >= 0.0 else 1.0 - cosine)
        slope -= n[j] * sine * n[j] * sine / h
        height += h
    return value, slope, height


def ball_point(lam: float, P: Matrix, C: Matrix, t: Vector, p: Vector, n: Vector) -> Matrix:
    """The minimisers of <a + lam c, .> over the unit balls of the columns, of several those with the smallest <c, .>;
    for lam = inf, of <c, .>, then of <a, .>."""
    if lam == inf:
        along, across = (n > 0).astype(float), (n == 0).astype(float)
    else:
        u = n * (lam + t)
        h = np.sqrt(p * p + u * u)
        any_point = h == 0
        h[any_point] = 1.0
        along, across = np.where(any_point, 1.0, u / h), p / h
    return C * (-along / np.where(n > 0, n, 1.0)) - P * (across / np.where(p > 0, p, 1.0))


@twin(ball_point, SUMS)
def _ball_point(lam: float, P: Matrix, C: Matrix, t: Vector, p: Vector, n: Vector) -> Matrix:
    rows, count = C.shape
    along, across = np.zeros(count), np.zeros(count)
    for j in range(count):
        u = n[j] * (lam + t[j])
        h = sqrt(p[j] * p[j] + u * u)
        if lam == np.inf or h == 0.0:
            if n[j] > 0.0:
                along[j] = -1.0 / n[j]
            elif p[j] > 0.0:
                across[j] = -1.0 / p[j]
        else:
            along[j], across[j] = -(lam + t[j]) / h, -1.0 / h
    point = np.empty((rows, count))
    for i in range(rows):
        for j in range(count):
            point[i, j] = along[j] * C[i, j] + across[j] * P[i, j]
    return point
