"""Upper bounds on the largest eigenvalue of a positive semidefinite matrix known through its products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector

LANCZOS_STEPS = 100
FAILURE_PROBABILITY = 1e-12


def largest_eigenvalue(matrix: NDArray[np.float64]) -> float:
    """The largest eigenvalue of a positive semidefinite matrix, times 1 + 1e-10 for rounding; inf where its entries are
    beyond the range of doubles."""
    if not np.isfinite(matrix).all():
        return np.inf
    return max(0.0, float(np.linalg.eigvalsh(matrix)[-1])) * (1 + 1e-10)


def krylov_bound(times: Callable[[Vector], Vector], size: int) -> float:
    """A number above the largest eigenvalue but for a probability of 1e-12 over the (seeded) random start.

    After k Lanczos steps from a uniformly random direction the Ritz value theta satisfies
    P(theta < (1 - eps) lambda_max) <= 1.648 sqrt(size) exp(-sqrt(eps) (2k - 1)); we choose eps for the wanted
    probability and return theta / (1 - eps), which is about 3 % above theta. With at most ``LANCZOS_STEPS``
    rows the matrix itself is built and nothing is left to chance.

    References
    ----------
    J. Kuczyński, H. Woźniakowski, Estimating the largest eigenvalue by the power and Lanczos algorithms with
    a random start, SIAM J. Matrix Anal. Appl. 13 (1992), Theorem 4.2.
    """
    if size <= LANCZOS_STEPS:
        matrix = np.column_stack([times(unit) for unit in np.eye(size)])
        return largest_eigenvalue((matrix + matrix.T) / 2)
    steps = LANCZOS_STEPS
    basis = np.zeros((steps, size))
    start = np.random.default_rng(0).standard_normal(size)
    basis[0] = start / np.linalg.norm(start)
    diagonal, off_diagonal = np.zeros(steps), np.zeros(steps - 1)
    for k in range(steps):
        image = times(basis[k])
        diagonal[k] = basis[k] @ image
        for _ in range(2):  # orthogonalising twice keeps the basis orthogonal to working precision
            image = image - basis[: k + 1].T @ (basis[: k + 1] @ image)
        length = float(np.linalg.norm(image))
        if k + 1 == steps:
            break
        if length <= 1e-14 * np.max(np.abs(diagonal)):  # an invariant subspace: its Ritz values are eigenvalues
            diagonal, off_diagonal = diagonal[: k + 1], off_diagonal[:k]
            break
        if not np.isfinite(length):
            return np.inf
        off_diagonal[k] = length
        basis[k + 1] = image / length
    tridiagonal = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    ritz = max(0.0, float(np.linalg.eigvalsh(tridiagonal)[-1]))
    eps: float = (np.log(1.648 * np.sqrt(size) / FAILURE_PROBABILITY) / (2 * steps - 1)) ** 2
    return ritz / (1 - float(eps))
