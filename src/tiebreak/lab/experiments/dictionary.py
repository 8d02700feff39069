"""Dictionary learning from data that arrive in two parts: new atoms without forgetting the old ones.

Section 5.3 and Appendix F.3 of the CG-BiO paper. From old data A a dictionary of 40 atoms D_hat and codes X_hat have
been learned. The bilevel problem finds 50 atoms D and codes X for new data A' among the dictionaries that explain the
old data, with the codes found for them, as well as any can:

    minimise 1/2 ||A' - D X||^2  over  D in argmin {1/2 ||A - D_1..40 X_hat||^2 : columns in the unit ball},

each column of X in an l1 ball. The paper divides both objectives by the number of data points; the step sizes that it
gives for its baselines belong to the objectives without that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Vector, as_count, as_positive, as_real_array
from ...objectives import Reconstruction
from ...problem import Problem
from ...sets import Columns, L1Ball, L2Ball, Product

Matrix = NDArray[np.float64]

DIMENSION, ATOMS, OLD_ATOMS, OLD_POINTS, NEW_POINTS, NONZEROS = 25, 50, 40, 250, 200, 5
NOISE, DELTA = 0.01, 3.0


@dataclass(frozen=True)
class Data:
    """The true dictionary (25 x 50), and old and new data made from its first 40 and its last 20 (or 21) atoms."""

    truth: Matrix
    A_old: Matrix
    A_new: Matrix


def generate(seed: int = 0, authors_atoms: bool = False) -> Data:
    """Data as in the paper; ``authors_atoms``: the released code's 21 atoms for the new data, 11 of them shared.

    Examples
    --------
    >>> data = generate()
    >>> data.A_old.shape, data.A_new.shape
    ((25, 250), (25, 200))
    """
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((DIMENSION, ATOMS))
    truth /= np.linalg.norm(truth, axis=0)
    first_new = ATOMS - (21 if authors_atoms else 20)
    return Data(
        truth,
        _points(rng, truth[:, :OLD_ATOMS], OLD_POINTS),
        _points(rng, truth[:, first_new:], NEW_POINTS),
    )


def _points(rng: np.random.Generator, atoms: Matrix, count: int) -> Matrix:
    """Mixtures of five atoms each, with weights of 0.2 to 1 in size and any sign, and noise."""
    codes = np.zeros((atoms.shape[1], count))
    for column in codes.T:
        chosen = rng.choice(len(column), NONZEROS, replace=False)
        column[chosen] = rng.uniform(0.2, 1.0, NONZEROS) * rng.choice([-1.0, 1.0], NONZEROS)
    return atoms @ codes + NOISE * rng.standard_normal((len(atoms), count))


@dataclass(frozen=True)
class Learned:
    """A dictionary D and codes X for some data; the Frank-Wolfe gap of the error in D, and the steps that took."""

    D: Matrix
    X: Matrix
    gap: float
    steps: int


def learn(
    A: ArrayLike,
    atoms: int = OLD_ATOMS,
    delta: float = DELTA,
    seed: int = 0,
    steps: int = 10_000,
    tol: float = 1e-6,
    max_steps: int = 20_000,
) -> Learned:
    """The dictionary and codes that the bilevel problem starts from, in the two phases of the paper's Appendix F.3.

    First ``steps`` steps 1/sqrt(k + 1) of conditional gradient on the error in both D and X, from random unit columns
    and X = 0; then conditional gradient with exact line search in D alone, until its Frank-Wolfe gap is ``tol`` (in
    the error that is not divided by the number of points; the released code has 1e-10), or ``max_steps`` are made. That
    takes a hundred steps where the best atoms are all of length one, as after a long first phase, and many if not.

    Examples
    --------
    >>> learned = learn(generate().A_old, steps=50, tol=1e-2)
    >>> learned.D.shape, learned.X.shape, learned.gap <= 1e-2
    ((25, 40), (40, 250), True)
    """
    data = as_real_array(A, "A")
    atoms = as_count(atoms, "atoms")
    error, domain = Reconstruction(data, atoms), domain_of((len(data), atoms), (atoms, data.shape[1]), delta)
    D = np.random.default_rng(seed).standard_normal((len(data), atoms))
    x = domain.join({"D": D / np.linalg.norm(D, axis=0), "X": np.zeros((atoms, data.shape[1]))})
    for k in range(steps):
        x += (domain.lmo(error.grad(x)) - x) / sqrt(k + 1)
    blocks = domain.split(x)
    in_D, balls = Reconstruction(data, atoms, blocks["X"]), Columns(L2Ball(1.0), (len(data), atoms))
    d, taken, gap = blocks["D"].ravel(), -1, np.inf
    while gap > tol and taken < max_steps:
        slope = in_D.grad(d)
        direction = balls.lmo(slope) - d
        gap = -float(slope @ direction)
        if gap > tol:
            d = d + min(gap / float(in_D.curvature_along(direction, None) or gap), 1.0) * direction
        taken += 1
    return Learned(d.reshape(len(data), atoms), blocks["X"], gap, taken)


def domain_of(D: tuple[int, int], X: tuple[int, int], delta: float) -> Product:
    """Dictionaries with columns in the unit ball, and codes with columns in the l1 ball of radius ``delta``."""
    return Product({"D": Columns(L2Ball(1.0), D), "X": Columns(L1Ball(as_positive(delta, "delta")), X)})


def problem_from(A_old: ArrayLike, X_hat: ArrayLike, A_new: ArrayLike, delta: float, n_atoms: int) -> Problem:
    """The bilevel problem in the blocks D and X, its objectives 1/2 ||.||^2 not divided by the number of points.

    Parameters
    ----------
    A_old, A_new : arrays, m x n and m x n'
        Old and new data, one point a column.
    X_hat : array, p x n
        The codes that were learned for the old data, for p <= ``n_atoms`` atoms.
    delta : float
        The l1 norm that a column of X may have.
    n_atoms : int
        The number of atoms.

    Examples
    --------
    >>> problem = problem_from([[1.0, 2.0]], [[1.0, 2.0]], [[3.0]], delta=3.0, n_atoms=2)
    >>> problem.domain.shapes
    {'D': (1, 2), 'X': (2, 1)}
    >>> x = problem.domain.join({"D": [[0.5, 1.0]], "X": [[1.0], [2.0]]})
    >>> problem.upper.value(x), round(problem.lower.value(x), 12)  # (3 - 0.5 - 2)^2 / 2, and (0.5^2 + 1^2) / 2
    (0.125, 0.625)
    """
    old, new = as_real_array(A_old, "A_old"), as_real_array(A_new, "A_new")
    if old.ndim != 2 or new.ndim != 2 or len(old) != len(new):
        raise ValueError(f"A_old and A_new must have the same number of rows, got shapes {old.shape} and {new.shape}")
    upper = Reconstruction(new, n_atoms)
    codes = (upper.atoms, new.shape[1])
    return Problem(
        upper=upper,
        lower=Reconstruction(old, n_atoms, X_hat, rest=codes[0] * codes[1]),
        domain=domain_of((len(new), upper.atoms), codes, delta),
    )


def start(problem: Problem, D_hat: Matrix, delta: float = DELTA, seed: int = 0) -> Vector:
    """Where all methods begin: D_hat and zero columns; normal random codes, scaled to an l1 norm of ``delta``.

    Examples
    --------
    >>> problem = problem_from([[1.0, 2.0]], [[1.0, 2.0]], [[3.0]], delta=3.0, n_atoms=2)
    >>> x = start(problem, np.array([[1.0]]))
    >>> x[:2], round(problem.lower.value(x), 12)
    (array([1., 0.]), 0.0)
    """
    assert isinstance(problem.domain, Product)
    shapes = problem.domain.shapes
    D = np.zeros(shapes["D"])
    D[:, : D_hat.shape[1]] = D_hat
    X = np.random.default_rng(seed).standard_normal(shapes["X"])
    return problem.domain.join({"D": D, "X": X * (delta / np.abs(X).sum(axis=0))})


def recovery(truth: Matrix, D: Matrix) -> float:
    """The share of true atoms with |<d*, d / ||d||>| > 0.9 for some atom d.

    Examples
    --------
    >>> recovery(np.eye(2), np.array([[0.2, 0.0], [0.01, 0.0]]))
    0.5
    """
    norms = np.linalg.norm(D, axis=0)
    return float((np.abs(truth.T @ (D / np.where(norms > 0, norms, 1.0))).max(axis=1) > 0.9).mean())
