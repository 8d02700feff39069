"""Ill-posed problems: integral equations of the first kind, and a second objective that selects among what fits.

Example 4 of the CG-BiO paper. The equations are those of P. C. Hansen, "Regularization Tools", Numerical Algorithms 6,
1994: phillips, baart and foxgood.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import toeplitz

from ...arrays import Matrix, Vector
from ...objectives import LeastSquares, Objective, Quadratic, SquaredNorm
from ...problem import Problem
from ...sets import Box


def phillips(n: int) -> tuple[Matrix, Vector]:
    """Phillips' equation by Galerkin's method with box functions; n a multiple of 4."""
    h, quarter = 12 / n, n // 4
    c = np.cos(np.arange(-1, quarter + 1) * 4 * np.pi / n)
    row = np.zeros(n)
    row[:quarter] = h + 9 / (h * np.pi**2) * (2 * c[1:-1] - c[:-2] - c[2:])
    row[quarter] = h / 2 + 9 / (h * np.pi**2) * (np.cos(4 * np.pi / n) - 1)
    half = (h + np.diff(np.sin(np.linspace(0, 3, quarter + 1) * np.pi / 3)) / (np.pi / 3)) / np.sqrt(h)
    x = np.zeros(n)
    x[n // 2 : n // 2 + quarter] = half
    x[quarter : n // 2] = half[::-1]
    return toeplitz(row), x


def baart(n: int) -> tuple[Matrix, Vector]:
    """exp(s cos t) on [0, pi/2] x [0, pi] by the midpoint rule, solution sin t."""
    middle = (np.arange(n) + 0.5) / n
    s, t = middle * np.pi / 2, middle * np.pi
    return np.exp(s[:, None] * np.cos(t)) * np.pi / n, np.sin(t)


def foxgood(n: int) -> tuple[Matrix, Vector]:
    """sqrt(s^2 + t^2) on the unit square by the midpoint rule, solution t."""
    t = (np.arange(n) + 0.5) / n
    return np.hypot(t[:, None], t) / n, t


KERNELS: dict[str, Callable[[int], tuple[Matrix, Vector]]] = {"phillips": phillips, "baart": baart, "foxgood": foxgood}


@dataclass(frozen=True)
class Equation:
    """A x = b with noise of a known size; x is what one would like to find."""

    A: Matrix
    x: Vector
    b: Vector
    noise: float

    @property
    def discrepancy(self) -> float:
        """What the true x may be expected to misfit at most (Morozov's principle): 1/2 n noise^2 and a fifth more."""
        return 0.6 * self.b.size * self.noise**2


def equation(kind: str, n: int = 64, noise: float = 0.01, seed: int = 0) -> Equation:
    """A discretised integral equation with noise in its right-hand side.

    Examples
    --------
    >>> one = equation("baart", 16)
    >>> int(np.linalg.matrix_rank(one.A, tol=1e-8 * np.linalg.norm(one.A, 2)))  # of 16
    7
    """
    A, x = KERNELS[kind](n)
    b = A @ x + noise * np.random.default_rng([seed, n]).normal(size=n)
    return Equation(A, x, b, noise)


def selection(kind: str, n: int, guess: Vector | None = None) -> Objective:
    """What to prefer: the "smallest" x, the "smoothest" one (with 1/2 ||x||^2 added), or the "nearest" to a guess."""
    if kind == "smallest":
        return SquaredNorm(dim=n)
    if kind == "smoothest":
        steps = np.diff(np.eye(n), axis=0)
        return Quadratic(np.eye(n) + steps.T @ steps, np.zeros(n))
    if kind == "nearest" and guess is not None:
        return SquaredNorm(guess)
    raise ValueError(f'kind must be "smallest", "smoothest" or, with a guess, "nearest", got {kind!r}')


def problem(one: Equation, upper: Objective, high: float = 10.0) -> Problem:
    """The misfit below, the selection above, over [0, high]^n.

    Examples
    --------
    >>> one = equation("foxgood", 16)
    >>> problem(one, selection("smallest", 16)).dim
    16
    """
    return Problem(upper, LeastSquares(one.A, one.b), Box(0.0, high))


def rank_deficient(seed: int = 0, n: int = 30, rank: int = 10) -> tuple[Problem, Vector]:
    """A system with many least-squares solutions, and the smallest of them by the singular value decomposition.

    Examples
    --------
    >>> problem, x = rank_deficient()
    >>> problem.domain.contains(x)
    True
    """
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(n, rank)))[0] for _ in range(2))
    sizes = np.linspace(1, 3, rank)
    b = rng.normal(size=n)
    x = right @ (left.T @ b / sizes)
    room = 2 * float(np.abs(x).max())
    return Problem(SquaredNorm(dim=n), LeastSquares(left * sizes @ right.T, b), Box(-room, room)), x
