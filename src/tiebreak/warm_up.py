"""Compile every kernel ahead, by small tasks that call each of them as the library does."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from .engines.columns.solve import solve_columns
from .kernels import Kernel, allow_all, kernels
from .methods.shared.factor_loop import Factors, fast_factor_updates
from .methods.shared.fair_loop import Fair, fast_fair_updates
from .methods.shared.gram_loop import Fixed, Gram, Numbers, fast_gram_updates
from .objectives import LeastSquares, Logistic, SquaredNorm
from .objectives.base import Objective
from .prepared import prepare
from .problem import Problem
from .sets import Box, L1Ball
from .sets.cuts.ball_columns import cut_ball_columns

Tell = Callable[[Kernel], None]

FIXED = Fixed(2.0, 2.0, 1.0, True, False, False, 0.0, 1e-9, 1e-9)
NUMBERS = Numbers(1.0, 0.0, -np.inf, np.inf, np.inf, np.inf, np.inf)


def warm_up(tell: Tell = lambda kernel: None) -> float:
    """Compile all that numba compiles and keep it on disk, where it is not there yet; returns the seconds it took.

    ``tell`` is called with every kernel once it is ready.
    """
    began, told = time.perf_counter(), set[Kernel]()
    allow_all()
    for task in TASKS:
        task()
        for kernel in kernels():
            if kernel.signatures and kernel not in told:
                told.add(kernel)
                tell(kernel)
    return time.perf_counter() - began


def _data(rows: int = 6, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(rows)
    return rng.standard_normal((rows, columns)), rng.standard_normal(rows)


def _solve_columns(lower: Objective) -> None:
    solve_columns(Problem(LeastSquares(*_data(3)), lower, L1Ball(5.0)))


def _sparse_columns() -> None:
    A, b = _data(4)
    _solve_columns(LeastSquares(sparse.csc_array(A), b))


def _logistic_columns() -> None:
    A, b = _data(9)
    _solve_columns(Logistic(A, b > 0))


def _cut_and_projection() -> None:
    a, c = np.random.default_rng(0).standard_normal((2, 8))
    L1Ball(1.0).lmo_cut(a, c, 0.0)
    L1Ball(1.0).project(10.0 * a)


def _ball_cut() -> None:
    A, C = np.random.default_rng(0).standard_normal((2, 3, 4))
    cut_ball_columns(A, C, 0.0, 0.0)


def _sparse_rows() -> None:
    A, b = _data(8)
    for width in (np.int32, np.int64):
        rows = sparse.csr_array(A)
        rows.indices, rows.indptr = rows.indices.astype(width), rows.indptr.astype(width)
        LeastSquares(rows, b).value_and_grad(np.ones(8))


def _gram() -> None:
    n = 3
    y, a, c, z, cz, a0, c0, anchor = np.zeros((8, n))
    F, known = np.eye(n), np.ones(n, dtype=np.bool_)
    values = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0])
    fast_gram_updates(1, 0, FIXED, Gram(y, a, c, z, cz, values, a0, c0, F, F, known, known, anchor), NUMBERS)


def _fair() -> None:
    rows, y, best = _data(2, 4)[0], np.zeros(2), np.zeros(2)
    t, signs, weights, attribute = np.zeros(4), np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, 0.25), np.ones(4)
    similar = np.array([-1.0, 0.0, -1.0, 0.0])
    fast_fair_updates(1, 0, FIXED, Fair(y, t, similar, rows, signs, weights, attribute, best), NUMBERS)


def _factors() -> None:
    x, best, (A, _) = np.zeros(2 * 3 + 3 * 4), np.zeros(18), _data(2, 4)
    D, X = x[:6].reshape(2, 3), x[6:].reshape(3, 4)
    old, codes = _data(2, 5)[0], _data(2, 5)[0]
    fast_factor_updates(1, 0, FIXED, Factors(x, D, X, A, old, codes, 0.0, 1.0, best), NUMBERS)


def _hierarchy() -> None:
    prepare(Problem(SquaredNorm(dim=4), LeastSquares(*_data(2, 4)), Box(-1.0, 1.0))).solve()


TASKS: tuple[Callable[[], None], ...] = (
    _cut_and_projection, _ball_cut, _sparse_rows, _gram, _fair, _factors, _hierarchy,
    lambda: _solve_columns(LeastSquares(*_data(4))), _sparse_columns, _logistic_columns,
)  # fmt: skip
"""What takes longest comes last."""
