"""Lifelong learning: a new task without losing the old ones (A-GEM's problem in its bilevel form, Appendix E.2).

A. Chaudhry, M. Ranzato, M. Rohrbach, M. Elhoseiny, "Efficient lifelong learning with A-GEM", ICLR 2019. The tasks
here are pairs of digits (scikit-learn's, 8 x 8 pixels) to be told apart as even or odd by one linear model on random
features; after each task a few of its rows are kept in a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Matrix, Vector
from ...objectives import LeastSquares, SquaredNorm
from ...problem import Problem
from ...sets import Box


@dataclass(frozen=True)
class Task:
    """Rows of features with labels -1 and 1, to learn from and to be tested on."""

    name: str
    A: Matrix
    y: Vector
    A_test: Matrix
    y_test: Vector

    def accuracy(self, x: Vector) -> float:
        """The share of test rows on the right side of 0."""
        return float(np.mean(np.sign(self.A_test @ x) == self.y_test))


def digit_tasks(features: int = 150, rows: int = 200, seed: int = 0) -> tuple[Task, ...]:
    """0 or 1, 2 or 3, ..., 8 or 9: five tasks on the same random features tanh(<w, pixels> + b).

    Examples
    --------
    >>> tasks = digit_tasks()
    >>> [task.name for task in tasks]
    ['0 or 1', '2 or 3', '4 or 5', '6 or 7', '8 or 9']
    >>> tasks[0].A.shape
    (200, 150)
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("the digits need scikit-learn: pip install 'tiebreak[sklearn]'") from error
    digits = load_digits()
    rng = np.random.default_rng(seed)
    pixels = digits.data / 16
    weights, shifts = rng.normal(size=(64, features - 1)), rng.uniform(-1, 1, features - 1)
    hidden = np.tanh((pixels - pixels.mean(axis=0)) @ weights / 2 + shifts)
    A = np.hstack([np.ones((len(hidden), 1)), hidden])
    tasks = []
    for even in range(0, 10, 2):
        mine = rng.permutation(np.flatnonzero((digits.target == even) | (digits.target == even + 1)))
        y = np.where(digits.target[mine] == even, -1.0, 1.0)
        here = A[mine]
        tasks.append(Task(f"{even} or {even + 1}", here[:rows], y[:rows], here[rows:], y[rows:]))
    return tuple(tasks)


def remembered(tasks: Sequence[Task], rows: int = 20) -> tuple[Matrix, Vector]:
    """The memory: the first rows of each task."""
    return np.vstack([task.A[:rows] for task in tasks]), np.concatenate([task.y[:rows] for task in tasks])


def problem(memory: tuple[Matrix, Vector], task: Task, bound: float = 30.0) -> Problem:
    """The mean squared error on the memory below, on the new task above, over a box.

    Examples
    --------
    >>> tasks = digit_tasks()
    >>> problem(remembered(tasks[:2]), tasks[2]).lower.A.shape
    (40, 150)
    """
    return Problem(_error(task.A, task.y), _error(*memory), Box(-bound, bound))


def plain(task: Task, before: Vector, bound: float = 30.0) -> Problem:
    """Training on the new task alone: among the models that fit it best, the one nearest to the model before."""
    return Problem(SquaredNorm(before), _error(task.A, task.y), Box(-bound, bound))


def _error(A: Matrix, y: Vector) -> LeastSquares:
    return LeastSquares(A, y, scale=1 / len(y))
