"""The logistic loss, several entries at a time, and what fair classification needs beside it.

Compilers do not vectorise calls of exp and log1p. What is compiled is plain arithmetic, good to a few units in the
last place: exp by the splitting x = n log 2 + r, |r| <= log(2)/2, and a polynomial in r; log1p(e) on [0, 1] as
2 artanh(e / (2 + e)), by its series.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Vector
from .registry import FUSED, SUMS, Group, Kernel, loop, twin

BLOCK = 256
LOG2_E = 1 / math.log(2)
LOG2_HIGH = 6.93147180369123816490e-01  # log 2, its last bits zero, so that n times it is exact
LOG2_LOW = 1.90821492927058770002e-10  # and the rest
ROUND = 1.5 * 2.0**52  # added to a number, it leaves its nearest integer in the last bits
LEAST = -746.0  # below, exp is zero
SMALL = 2.0**-64  # a factor that keeps 2**n among the normal numbers until the end

C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (1 / math.factorial(k) for k in range(2, 14))


def logistic_link(t: Vector, signs: Vector, weights: Vector, slope: Vector) -> float:
    """sum_i w_i log(1 + exp(-y_i t_i)) and, in ``slope``, its gradient in t."""
    margin = signs * t
    decay = np.exp(-np.abs(margin))
    loss = np.maximum(-margin, 0) + np.log1p(decay)
    against = np.where(margin >= 0, decay, 1) / (1 + decay)  # sigma(-margin)
    slope[:] = -weights * signs * against
    return float(weights @ loss)


@twin(logistic_link, SUMS)
def _logistic_link(t: Vector, signs: Vector, weights: Vector, slope: Vector) -> float:
    """NaN where an entry of t is not finite."""
    e = decay(t)
    logs = log1p_of(e)
    total = 0.0
    for i in range(t.size):
        margin = signs[i] * t[i]
        total += weights[i] * (logs[i] - (margin if margin < 0 else 0.0)) + 0.0 * t[i]
        slope[i] = -weights[i] * signs[i] * (e[i] if margin >= 0 else 1.0) / (1.0 + e[i])
    return total


def fair_links(t: Vector, signs: Vector, weights: Vector, attribute: Vector) -> tuple[float, Vector, float, Vector]:
    """The logistic loss and its gradient, the covariance of the attribute and its gradient, all in t."""
    decay = np.exp(-np.abs(t))
    over = 1.0 / (1.0 + decay)
    margin = signs * t
    value = float(weights @ (np.log1p(decay) - np.minimum(margin, 0.0)))
    slope = -weights * signs * np.where(margin >= 0, decay, 1.0) * over
    covariance = 0.5 * float(attribute @ np.copysign((1.0 - decay) * over, t))
    return value, slope, covariance, attribute * decay * over * over


@twin(fair_links, SUMS)
def _fair_links(t: Vector, signs: Vector, weights: Vector, attribute: Vector) -> tuple[float, Vector, float, Vector]:
    e = decay(t)
    logs = log1p_of(e)
    slope, turn = np.empty(t.size), np.empty(t.size)
    total = covariance = 0.0
    for i in range(t.size):
        margin, over = signs[i] * t[i], 1.0 / (1.0 + e[i])
        total += weights[i] * (logs[i] - (margin if margin < 0 else 0.0))
        slope[i] = -weights[i] * signs[i] * (e[i] if margin >= 0 else 1.0) * over
        half = attribute[i] * (1.0 - e[i]) * over
        covariance += half if t[i] >= 0 else -half
        turn[i] = attribute[i] * e[i] * over * over
    return total, slope, 0.5 * covariance, turn


def two_products(rows: Vector, u: Vector, v: Vector) -> tuple[Vector, Vector]:
    """The products of a matrix with two vectors."""
    return rows @ u, rows @ v


@twin(two_products, SUMS)
def _two_products(rows: Vector, u: Vector, v: Vector) -> tuple[Vector, Vector]:
    """In one pass, four rows at a time so that u and v are read less."""
    d, n = rows.shape
    first, second = np.empty(d), np.empty(d)
    whole = d - d % 4
    for j in range(0, whole, 4):
        r0, r1, r2, r3 = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
        u0 = u1 = u2 = u3 = v0 = v1 = v2 = v3 = 0.0
        for i in range(n):
            x, y = u[i], v[i]
            u0 += r0[i] * x
            u1 += r1[i] * x
            u2 += r2[i] * x
            u3 += r3[i] * x
            v0 += r0[i] * y
            v1 += r1[i] * y
            v2 += r2[i] * y
            v3 += r3[i] * y
        first[j], first[j + 1], first[j + 2], first[j + 3] = u0, u1, u2, u3
        second[j], second[j + 1], second[j + 2], second[j + 3] = v0, v1, v2, v3
    for j in range(whole, d):
        first[j], second[j] = np.dot(rows[j], u), np.dot(rows[j], v)
    return first, second


@loop(FUSED)
def decay(t: Vector) -> Vector:
    """exp(-|t|)."""
    out = np.empty(t.size)
    power = np.empty(BLOCK)
    bits = power.view(np.int64)
    for start in range(0, t.size, BLOCK):
        part, result = t[start : start + BLOCK], out[start : start + BLOCK]
        for i in range(part.size):
            x = -abs(part[i])
            x = x if x > LEAST else LEAST
            shifted = x * LOG2_E + ROUND
            n = shifted - ROUND
            r = (x - n * LOG2_HIGH) - n * LOG2_LOW
            p = C10 + r * (C11 + r * (C12 + r * C13))
            p = C6 + r * (C7 + r * (C8 + r * (C9 + r * p)))
            p = 0.5 + r * (C3 + r * (C4 + r * (C5 + r * p)))
            result[i] = 1.0 + (r + r * r * p)
            power[i] = shifted
        for i in range(part.size):
            bits[i] = (bits[i] + 1023 + 64) << 52  # the bits of 2**n / SMALL
        for i in range(part.size):
            result[i] = result[i] * power[i] * SMALL
    return out


@loop(FUSED)
def log1p_of(e: Vector) -> Vector:
    """log(1 + e) for e in [0, 1]."""
    out = np.empty(e.size)
    for i in range(e.size):
        s = e[i] / (2.0 + e[i])
        q = s * s
        p = 1 / 27 + q * (1 / 29 + q * (1 / 31 + q * (1 / 33 + q * (1 / 35))))
        p = 1 / 17 + q * (1 / 19 + q * (1 / 21 + q * (1 / 23 + q * (1 / 25 + q * p))))
        p = 1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15 + q * p))))
        p = 1 / 3 + q * (1 / 5 + q * p)
        out[i] = 2.0 * (s + s * q * p)
    return out


fast_logistic_link = Kernel(logistic_link, Group("the logistic loss", 1.0))
