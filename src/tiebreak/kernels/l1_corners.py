"""Corners of l1 balls, one a column, and columns copied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
from .registry import SUMS, twin


def corners(X: Matrix, slope: Matrix, radius: float) -> tuple[NDArray[np.intp], float]:
    """Which entry of each column is nonzero in the minimiser S of <slope, .> over l1 balls, and <slope, X - S>."""
    place = np.abs(slope).argmax(axis=0)
    largest = np.abs(slope[place, np.arange(X.shape[1])])
    return place, float(np.vdot(slope, X)) + radius * float(largest.sum())


@twin(corners, SUMS)
def _corners(X: Matrix, slope: Matrix, radius: float) -> tuple[NDArray[np.intp], float]:
    rows, count = X.shape
    place, largest, gap = np.zeros(count, dtype=np.intp), np.abs(slope[0]), 0.0
    for i in range(rows):
        for j in range(count):
            gap += slope[i, j] * X[i, j]
            if abs(slope[i, j]) > largest[j]:
                largest[j] = abs(slope[i, j])
                place[j] = i
    return place, gap + radius * largest.sum()


def move_to_corners(X: Matrix, place: NDArray[np.intp], slope: Matrix, radius: float, gamma: float) -> None:
    """Move X by gamma towards S."""
    columns = np.arange(X.shape[1])
    X *= 1.0 - gamma
    X[place, columns] -= np.where(slope[place, columns] >= 0, gamma * radius, -gamma * radius)


@twin(move_to_corners)
def _move_to_corners(X: Matrix, place: NDArray[np.intp], slope: Matrix, radius: float, gamma: float) -> None:
    rows, count = X.shape
    for i in range(rows):
        for j in range(count):
            X[i, j] *= 1.0 - gamma
    for j in range(count):
        X[place[j], j] -= gamma * radius if slope[place[j], j] >= 0.0 else -gamma * radius


def copy_columns(source: Matrix, target: Matrix) -> None:
    """Copy as many columns as both have."""
    shared = min(source.shape[1], target.shape[1])
    target[:, :shared] = source[:, :shared]


@twin(copy_columns)
def _copy_columns(source: Matrix, target: Matrix) -> None:
    for i in range(target.shape[0]):
        for j in range(min(source.shape[1], target.shape[1])):
            target[i, j] = source[i, j]
