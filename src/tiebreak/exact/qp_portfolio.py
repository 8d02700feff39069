"""Quadratic programmes by three solvers, none of which is enough alone; their statuses are not used.

    min 1/2 v'Hv + <c, v>   subject to   low <= G v <= high,  lower <= v <= upper

with multipliers y of the rows in the sense H v + c = G'y + (multipliers of the bounds), y >= 0 at a low end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from ..deadline import SPEED, OutOfTime, remaining
from ..sets.effort import system_work
from .extended import is_sparse


class QP(NamedTuple):
    """The data; H dense only with a dense G."""

    H: Matrix
    c: Vector
    G: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector


class Guess(NamedTuple):
    """What a solver says: a point and row multipliers, to be polished and judged."""

    v: Vector
    y: Vector


Method: TypeAlias = Callable[[QP], Guess | None]
TOLERANCE = 1e-10
FEW = 500
"""HiGHS's active-set method is worth its time on faces with up to this many columns."""
MOST_ROWS = 1500
"""Up to this many rows their Gram matrix is factorised as a dense one."""
WIDE = 4
"""So many times more columns than rows make Newton's method on the dual worth a try where some have no curvature."""


ITERATIONS = 15
"""An interior-point method with time for fewer is not asked."""
THREADED = 4.0
"""Clarabel's factorisation is so much faster than PIQP's where time may be short: on large systems."""


def portfolio(qp: QP) -> list[Method]:
    """In which order to ask: interior points first, as their answers lie inside the face of all solutions."""
    if not is_sparse(qp.H):
        return [by_piqp_dense, by_clarabel, by_highs]
    diagonal = qp.H.diagonal()
    few_rows = qp.low.size <= MOST_ROWS and qp.H.count_nonzero() == np.count_nonzero(diagonal)
    few_rows &= bool((diagonal > 0).all()) or WIDE * qp.low.size <= qp.c.size
    return [
        *([by_dual_newton] if few_rows else []),
        by_piqp,
        by_clarabel,
        *([by_highs] if qp.c.size <= FEW else []),
    ]


def by_dual_newton(qp: QP) -> Guess | None:
    """Newton's method on the dual of a diagonal Hessian."""
    from .dual_newton import maximise, with_slack_columns

    found = maximise(with_slack_columns(qp.H.diagonal(), qp.c, qp.G, qp.low, qp.high, qp.lower, qp.upper))
    return None if found is None else _finite(Guess(found[0][: qp.c.size], found[1]))


def by_piqp_dense(qp: QP) -> Guess | None:
    """PIQP on dense matrices."""
    import piqp

    return _piqp(piqp.DenseSolver(), qp, np.asfortranarray)


def by_piqp(qp: QP) -> Guess | None:
    """PIQP on sparse matrices."""
    import piqp

    return _piqp(piqp.SparseSolver(), qp, sp.csc_matrix)


def _piqp(solver, qp: QP, form: Callable[[Matrix], Matrix]) -> Guess | None:  # type: ignore[no-untyped-def]
    for name in ("eps_abs", "eps_duality_gap_abs"):
        setattr(solver.settings, name, TOLERANCE)
    for name in ("eps_rel", "eps_duality_gap_rel"):
        setattr(solver.settings, name, TOLERANCE)
    if np.isfinite(remaining()):  # PIQP cannot be stopped: it is told how often it may factorise
        each = system_work(qp.H, qp.G, ITERATIONS) / ITERATIONS
        most = int(0.8 * SPEED * remaining() / each)
        if most < ITERATIONS:
            raise OutOfTime
        solver.settings.max_iter = min(solver.settings.max_iter, most)
    equal = qp.low == qp.high
    tied, ranged = form(qp.G if equal.all() else qp.G[equal]), form(qp.G[~equal])
    ends = qp.low[equal], ranged, qp.low[~equal], qp.high[~equal], qp.lower, qp.upper
    solver.setup(form(qp.H), qp.c, tied, *ends)
    solver.solve()
    result = solver.result
    y = np.zeros(qp.low.size)
    y[equal], y[~equal] = -np.array(result.y), np.array(result.z_l) - np.array(result.z_u)
    return _finite(Guess(np.array(result.x), y))


def by_clarabel(qp: QP) -> Guess | None:
    """Clarabel's interior-point method."""
    import clarabel

    n = qp.c.size
    B = sp.csr_array(sp.vstack([sp.csr_array(qp.G), sp.eye_array(n, format="csr")]))
    low, high = np.append(qp.low, qp.lower), np.append(qp.high, qp.upper)
    tied = np.flatnonzero(low == high)
    above = np.flatnonzero((low < high) & np.isfinite(high))
    below = np.flatnonzero((low < high) & np.isfinite(low))
    rows = sp.csc_matrix(sp.vstack([B[tied], B[above], -B[below]]))
    ends = np.concatenate([high[tied], high[above], -low[below]])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    if np.isfinite(remaining()):  # Clarabel looks at the clock between its factorisations
        settings.time_limit = remaining() - system_work(qp.H, qp.G) / (THREADED * SPEED)
        if settings.time_limit <= 0:
            raise OutOfTime
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    cones = [clarabel.ZeroConeT(len(tied)), clarabel.NonnegativeConeT(len(above) + len(below))]
    P = sp.csc_matrix(sp.triu(sp.csc_matrix(qp.H)))
    answer = clarabel.DefaultSolver(P, qp.c, rows, ends, cones, settings).solve()
    z = np.array(answer.z)
    y = np.zeros(low.size)
    y[tied] = -z[: len(tied)]
    y[above] -= z[len(tied) : len(tied) + len(above)]
    y[below] += z[len(tied) + len(above) :]
    return _finite(Guess(np.array(answer.x), y[: qp.low.size]))


def by_highs(qp: QP) -> Guess | None:
    """HiGHS's active-set method, at most ten seconds."""
    import highspy

    m, n = qp.G.shape
    G, H = sp.csc_array(qp.G), sp.csc_array(sp.tril(sp.csc_array(qp.H)))
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_ = qp.c
    lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_ = qp.lower, qp.upper, qp.low, qp.high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = G.indptr, G.indices, G.data
    model.hessian_.dim_ = n
    model.hessian_.format_ = highspy.HessianFormat.kTriangular
    model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = H.indptr, H.indices, H.data
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "time_limit": min(10.0, remaining()), "parallel": "off"}.items():
        highs.setOptionValue(name, value)
    highs.passModel(model)
    highs.run()
    solution = highs.getSolution()
    if len(solution.col_value) != n or len(solution.row_dual) != m:
        return None
    return _finite(Guess(np.array(solution.col_value), np.array(solution.row_dual)))


def _finite(guess: Guess) -> Guess | None:
    return guess if np.isfinite(guess.v).all() and np.isfinite(guess.y).all() else None
