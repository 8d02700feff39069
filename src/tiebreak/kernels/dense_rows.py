"""Least squares with bounds on all rounding errors, and norms of columns, for dense data by rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector, length
from .registry import SUMS, Group, Kernel, twin
from .small_matrices import mix

Array = NDArray[np.float64]


def squares_with_errors(
    M: Array,
    support: NDArray[np.int64],
    weights: Vector,
    b: Vector,
    norms: Vector,
    units: tuple[float, ...],
    grad: Vector,
    t: Vector,
    grad_error: Vector,
) -> tuple[float, float, float]:
    """1/2 ||M x - b||^2 for an x with these nonzeros, its error, and that of M x; the gradient, M x and the errors of
    the gradient are written into arrays.

    ``norms`` are those of the columns; ``units`` the relative errors of a product with x, of one with M', of an entry
    of the slope, of the value, and of a rounded number.
    """
    of_product, of_pull, of_slope, of_value, unit = units
    part = M[:, support]
    t[:] = part @ weights
    slope, error = t - b, of_product * (np.abs(part) @ np.abs(weights))
    steep, value = np.abs(slope), 0.5 * float(slope @ slope)
    grad[:] = slope @ M
    pull_error = length((of_pull + of_slope) * steep + 1.01 * error) * (1 + 1e-10)
    grad_error[:] = 1.01 * (norms * pull_error + 4 * unit * np.abs(grad))
    value_error = float((steep + 0.505 * error) @ error)
    return value, 1.01 * (value_error + of_value * value), 1.01 * length(error)


@twin(squares_with_errors, SUMS)
def _squares_with_errors(
    M: Array,
    support: NDArray[np.int64],
    weights: Vector,
    b: Vector,
    norms: Vector,
    units: tuple[float, ...],
    grad: Vector,
    t: Vector,
    grad_error: Vector,
) -> tuple[float, float, float]:
    of_product, of_pull, of_slope, of_value, unit = units
    slope = np.empty(M.shape[0])
    value = value_error = image_error = pull_error = 0.0
    for i in range(M.shape[0]):
        total = size = 0.0
        for j in range(support.size):
            term = M[i, support[j]] * weights[j]
            total += term
            size += abs(term)
        t[i], slope[i] = total, total - b[i]
        error, steep = of_product * size, abs(slope[i])
        value += 0.5 * steep * steep
        value_error += (steep + 0.505 * error) * error
        image_error += error * error
        pull_error += ((of_pull + of_slope) * steep + 1.01 * error) ** 2
    grad[:] = mix(slope, M, M.shape[1])
    pull_error = math.sqrt(pull_error) * (1 + 1e-10)
    for j in range(grad.size):
        grad_error[j] = 1.01 * (norms[j] * pull_error + 4 * unit * abs(grad[j]))
    return value, 1.01 * (value_error + of_value * value), 1.01 * math.sqrt(image_error)


def column_norms(M: Array, out: Vector) -> None:
    """The norms of the columns; ``out`` comes with zeros."""
    np.sqrt(np.einsum("ij,ij->j", M, M), out=out)


@twin(column_norms, SUMS)
def _column_norms(M: Array, out: Vector) -> None:
    """Four rows at a time."""
    whole = M.shape[0] - M.shape[0] % 4
    for i in range(0, whole, 4):
        for j in range(M.shape[1]):
            p, q, r, s = M[i, j], M[i + 1, j], M[i + 2, j], M[i + 3, j]
            out[j] += (p * p + q * q) + (r * r + s * s)
    for i in range(whole, M.shape[0]):
        for j in range(M.shape[1]):
            out[j] += M[i, j] * M[i, j]
    for j in range(M.shape[1]):
        out[j] = math.sqrt(out[j])


PASSES = Group("passes over dense data", 3.0)
fast_squares_with_errors = Kernel(squares_with_errors, PASSES)
fast_column_norms = Kernel(column_norms, PASSES)
