"""Multi-task representation learning: a new task improves a representation without spoiling it for the old ones.

Example 5 of the CG-BiO paper. Task i has data y = X B* w_i* + noise with a representation B* (d x k) that all tasks
share and a head w_i* of its own. The old tasks' heads span only part of R^k, so that they determine only part of B*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Matrix, Vector
from ...objectives import Function, LeastSquares
from ...problem import Problem
from ...sets import L1Ball, L2Ball, Product


@dataclass(frozen=True)
class Task:
    """Rows of inputs and their outputs."""

    X: Matrix
    y: Vector

    def error(self, B: Matrix, w: Vector) -> float:
        """Half the squared error."""
        return 0.5 * float(np.sum((self.y - self.X @ (B @ w)) ** 2))


@dataclass(frozen=True)
class World:
    """The old tasks, the new one, more rows of the new one to be tested on, and the representation behind them all."""

    old: tuple[Task, ...]
    new: Task
    test: Task
    B: Matrix


def world(seed: int = 0, d: int = 20, k: int = 4, tasks: int = 12, rows: int = 30, noise: float = 0.01) -> World:
    """Old heads lie in the first k - 1 coordinates; the new one needs the last as well.

    Examples
    --------
    >>> one = world()
    >>> len(one.old), one.B.shape
    (12, (20, 4))
    """
    rng = np.random.default_rng(seed)
    B = np.linalg.qr(rng.normal(size=(d, k)))[0]

    def task(head: Vector, count: int) -> Task:
        X = rng.normal(size=(count, d)) / np.sqrt(count)
        return Task(X, X @ (B @ head) + noise * rng.normal(size=count) / np.sqrt(count))

    def head(used: int) -> Vector:
        w = np.concatenate([rng.normal(size=used), np.zeros(k - used)])
        return np.asarray(w / np.abs(w).sum())

    old = tuple(task(head(k - 1), rows) for _ in range(tasks))
    last = np.full(k, 1 / k) * rng.choice([-1.0, 1.0], k)
    return World(old, task(last, 2 * d), task(last, 1000), B)


def trained(one: World, k: int, delta: float, bound: float, seed: int = 0, rounds: int = 200) -> tuple[Matrix, Matrix]:
    """A representation and a head for each old task, by alternating least squares within the bounds.

    The heads are scaled to l1 norm ``delta`` at most, the representation to Frobenius norm ``bound`` at most.
    """
    rng = np.random.default_rng(seed)
    d = one.B.shape[0]
    B = rng.normal(size=(d, k))
    heads = np.zeros((len(one.old), k))
    for _ in range(rounds):
        B = np.linalg.qr(B)[0]
        heads = np.array([np.linalg.lstsq(task.X @ B, task.y, rcond=1e-8)[0] for task in one.old])
        B = np.linalg.lstsq(_rows(one.old, heads), np.concatenate([task.y for task in one.old]), rcond=1e-8)[0].reshape(
            d, k
        )
    scale = np.maximum(np.abs(heads).sum(axis=1).max() / delta, 1e-12)
    heads, B = heads / scale, B * scale
    size = np.linalg.norm(B)
    return (B * (bound / size) if size > bound else B), heads


def _rows(tasks: tuple[Task, ...], heads: Matrix) -> Matrix:
    """One row for each row of each task: y = <kron(x, w), B flattened row by row>."""
    return np.vstack(
        [np.einsum("ni,j->nij", task.X, w).reshape(len(task.y), -1) for task, w in zip(tasks, heads, strict=True)]
    )


def problem_from(one: World, heads: Matrix, delta: float, bound: float) -> Problem:
    """The error on the new task above, in B and w; the error on the old tasks with their heads below, in B alone.

    Examples
    --------
    >>> one = world()
    >>> B, heads = trained(one, 4, delta=1.0, bound=5.0)
    >>> problem = problem_from(one, heads, delta=1.0, bound=5.0)
    >>> problem.dim, problem.upper.convex
    (84, False)
    """
    d, k = one.B.shape
    X, y = one.new.X, one.new.y

    def value(x: Vector) -> float:
        return one.new.error(x[: d * k].reshape(d, k), x[d * k :])

    def grad(x: Vector) -> Vector:
        B, w = x[: d * k].reshape(d, k), x[d * k :]
        slope = X.T @ (X @ (B @ w) - y)
        return np.concatenate([np.outer(slope, w).ravel(), B.T @ slope])

    rows = _rows(one.old, heads)
    lower = LeastSquares(np.hstack([rows, np.zeros((len(rows), k))]), np.concatenate([task.y for task in one.old]))
    domain = Product({"B": (L2Ball(bound), (d, k)), "w": (L1Ball(delta), (k,))})
    return Problem(Function(value, grad, dim=d * k + k, convex=False), lower, domain)


def missed(B: Matrix, truth: Matrix) -> float:
    """How much of the true representation lies outside the columns of B: the sine of the largest angle, 0 to 1.

    Directions of B below a hundredth of its size do not count.

    Examples
    --------
    >>> missed(np.eye(3)[:, :1], np.eye(3)[:, :2])
    1.0
    """
    left, sizes, _ = np.linalg.svd(B, full_matrices=False)
    span = left[:, sizes > 0.01 * sizes[0]]
    return float(np.linalg.norm(truth - span @ (span.T @ truth), 2))
