"""Copies into and out of the leading parts of arrays, for the loops of the column engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .registry import twin

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


def put(M: Array, i: int, x: Vector) -> None:
    """Let row i of M begin with x."""
    M[i, : x.size] = x


@twin(put)
def _put(M: Array, i: int, x: Vector) -> None:
    for j in range(x.size):
        M[i, j] = x[j]


def put_column(M: Array, j: int, x: Vector) -> None:
    """Let column j of M begin with x."""
    M[: x.size, j] = x


@twin(put_column)
def _put_column(M: Array, j: int, x: Vector) -> None:
    for i in range(x.size):
        M[i, j] = x[i]


def gather(x: Vector, index: Numbers, count: int) -> Vector:
    """The entries of x at the first places of ``index``."""
    return np.asarray(x[index[:count]])


@twin(gather)
def _gather(x: Vector, index: Numbers, count: int) -> Vector:
    out = np.empty(count)
    for i in range(count):
        out[i] = x[index[i]]
    return out


def scatter(x: Vector, index: Numbers, values: Vector, factor: float) -> None:
    """Put values times a factor at the first places of ``index``."""
    x[index[: values.size]] = factor * values


@twin(scatter)
def _scatter(x: Vector, index: Numbers, values: Vector, factor: float) -> None:
    for i in range(values.size):
        x[index[i]] = factor * values[i]


def assign(x: Vector, values: Vector) -> None:
    """Let x begin with these values."""
    x[: values.size] = values


@twin(assign)
def _assign(x: Vector, values: Vector) -> None:
    for i in range(values.size):
        x[i] = values[i]


def picked(M: Array, index: Numbers) -> Array:
    """Rows of M."""
    return np.asarray(M[index])


@twin(picked)
def _picked(M: Array, index: Numbers) -> Array:
    out = np.empty((index.size, M.shape[1]))
    for i in range(index.size):
        for j in range(M.shape[1]):
            out[i, j] = M[index[i], j]
    return out


def lay(M: Array, block: Array) -> None:
    """Let M begin with a block."""
    M[: block.shape[0], : block.shape[1]] = block


@twin(lay)
def _lay(M: Array, block: Array) -> None:
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            M[i, j] = block[i, j]
