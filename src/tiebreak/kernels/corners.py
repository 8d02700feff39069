"""Corners of l1 balls, one a column, and columns copied: twins of ``solvers/factor_loop.py``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
from .jit import SUMS, jit


@jit(SUMS)
def corners(X: Matrix, slope: Matrix, radius: float) -> tuple[NDArray[np.intp], float]:
    """Which entry of each column is nonzero in the minimiser S of <slope, .> over l1 balls, and <slope, X - S>."""
    rows, count = X.shape
    place, largest, gap = np.zeros(count, dtype=np.intp), np.abs(slope[0]), 0.0
    for i in range(rows):
        for j in range(count):
            gap += slope[i, j] * X[i, j]
            if abs(slope[i, j]) > largest[j]:
                largest[j] = abs(slope[i, j])
                place[j] = i
    return place, gap + radius * largest.sum()


@jit()
def move_to_corners(X: Matrix, place: NDArray[np.intp], slope: Matrix, radius: float, gamma: float) -> None:
    """Move X by gamma towards S."""
    rows, count = X.shape
    for i in range(rows):
        for j in range(count):
            X[i, j] *= 1.0 - gamma
    for j in range(count):
        X[place[j], j] -= gamma * radius if slope[place[j], j] >= 0.0 else -gamma * radius


@jit()
def copy_columns(source: Matrix, target: Matrix) -> None:
    """Copy as many columns as both have."""
    for i in range(target.shape[0]):
        for j in range(min(source.shape[1], target.shape[1])):
            target[i, j] = source[i, j]
