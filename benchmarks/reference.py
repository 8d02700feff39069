"""Reference values that owe nothing to tiebreak.

A level is min 1/2 ||F x - y||^2 + <q, x> subject to A x = b, low <= x <= high. Two interior-point solvers propose a
point with multipliers; weak duality turns them into an error bar, whatever the solver says of itself. Small levels
are solved in decimal arithmetic instead (``decimals.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

DECIMAL_SIZE = 320  # unknowns and multipliers up to which decimal elimination takes seconds


class Inaccurate(Exception):
    """No reference of the accuracy asked for."""


@dataclass(frozen=True)
class Level:
    """min 1/2 ||F x - y||^2 + <q, x> subject to A x = b, low <= x <= high; dense or sparse F and A."""

    F: Any
    y: np.ndarray
    q: np.ndarray
    A: Any
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def value(self, x: np.ndarray) -> float:
        residual = self.F @ x - self.y
        return 0.5 * float(residual @ residual) + float(self.q @ x)

    def grad(self, x: np.ndarray) -> np.ndarray:
        return self.F.T @ (self.F @ x - self.y) + self.q


@dataclass(frozen=True)
class Reference:
    """A minimiser, the minimum, an error bar, and multipliers: grad = A' rows + bounds."""

    x: np.ndarray
    value: float
    error: float
    rows: np.ndarray
    bounds: np.ndarray


def level(dim: int, F: Any = None, y: Any = None, q: Any = None, A: Any = None, b: Any = None, low: Any = None,
          high: Any = None) -> Level:  # fmt: skip
    """A level with what is not given left out."""

    def vector(v: Any, size: int, default: float) -> np.ndarray:
        return np.full(size, default) if v is None else np.broadcast_to(np.asarray(v, dtype=float), (size,)).copy()

    F = np.zeros((0, dim)) if F is None else F
    A = np.zeros((0, dim)) if A is None else A
    return Level(F, vector(y, F.shape[0], 0.0), vector(q, dim, 0.0), A, vector(b, A.shape[0], 0.0),
                 vector(low, dim, -np.inf), vector(high, dim, np.inf))  # fmt: skip


def solve(task: Level, accuracy: float = 1e-8) -> Reference:
    """The minimum with its error bar: in decimals where that is affordable, else the better of two solvers."""
    proposals = [judge(task, *clarabel_point(task))]
    if task.q.size + task.b.size <= DECIMAL_SIZE:
        from decimals import decimal_solve

        try:
            return decimal_solve(task, proposals[0]).reference
        except Inaccurate:
            pass
    if proposals[0].error > 1e-2 * accuracy * (1 + abs(proposals[0].value)):
        proposals.append(judge(task, *piqp_point(task)))
    best = min(proposals, key=lambda one: one.error)
    if not best.error <= accuracy * (1 + abs(best.value)):
        raise Inaccurate(f"error bar {best.error:.1e} at the value {best.value:.6g}")
    return best


def judge(task: Level, x: np.ndarray, rows: np.ndarray) -> Reference:
    """The error bar of a point with multipliers, by weak duality; free variables are taken to stay within reach."""
    grad = task.grad(x)
    bounds = grad - task.A.T @ rows
    reach = 4 * (1 + np.abs(x))
    low, high = np.maximum(task.low, x - reach), np.minimum(task.high, x + reach)
    below = np.minimum(bounds * (low - x), bounds * (high - x)).sum() + rows @ (task.b - task.A @ x)
    outside = np.maximum(task.low - x, 0) + np.maximum(x - task.high, 0)
    above = np.abs(rows) @ np.abs(task.A @ x - task.b) + np.abs(grad) @ outside
    value = task.value(x)
    rounding = 4e-16 * np.sqrt(x.size) * (abs(value) + np.abs(rows) @ np.abs(task.b) + np.abs(grad) @ np.abs(x))
    return Reference(x, value, float(abs(below) + above + rounding), rows, bounds)


def _interior_point_form(task: Level) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """With the residual as a variable: P, c and the equations in (x, r)."""
    n, m = task.q.size, task.y.size
    P = sparse.block_diag([sparse.csc_array((n, n)), sparse.eye_array(m)], format="csc")
    equations = sparse.block_array(
        [
            [sparse.csc_array(task.A), sparse.csc_array((task.b.size, m))],
            [sparse.csc_array(task.F), -sparse.eye_array(m)],
        ],
        format="csc",
    )
    return P, np.concatenate([task.q, np.zeros(m)]), equations, np.concatenate([task.b, task.y])


def clarabel_point(task: Level, tolerance: float = 1e-12) -> tuple[np.ndarray, np.ndarray]:
    """Route one: Clarabel; x and the multipliers of A x = b."""
    import clarabel

    P, c, equations, rhs = _interior_point_form(task)
    width = c.size
    eye = sparse.eye_array(width, format="csr")
    has_low, has_high = np.flatnonzero(np.isfinite(task.low)), np.flatnonzero(np.isfinite(task.high))
    G = sparse.vstack([equations, -eye[has_low], eye[has_high]], format="csc")
    h = np.concatenate([rhs, -task.low[has_low], task.high[has_high]])
    cones = [clarabel.ZeroConeT(rhs.size), clarabel.NonnegativeConeT(has_low.size + has_high.size)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter, settings.max_threads = False, 200, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solution = clarabel.DefaultSolver(sparse.csc_matrix(P), c, sparse.csc_matrix(G), h, cones, settings).solve()
    return np.array(solution.x)[: task.q.size], -np.array(solution.z)[: task.b.size]


def piqp_point(task: Level, tolerance: float = 1e-11, max_iter: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Route two: PIQP; x and the multipliers of A x = b."""
    import piqp

    P, c, equations, rhs = _interior_point_form(task)
    free = np.full(task.y.size, np.inf)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = tolerance
    solver.settings.eps_rel = 0.0
    solver.settings.max_iter = max_iter
    low, high = np.concatenate([task.low, -free]), np.concatenate([task.high, free])
    solver.setup(sparse.csc_matrix(P), c, sparse.csc_matrix(equations), rhs, None, None, None, low, high)
    solver.solve()
    return np.array(solver.result.x)[: task.q.size], -np.array(solver.result.y)[: task.b.size]
