"""Quadratic programmes by three solvers, none of which is enough alone; their statuses are not used.

The form, and the sense of the multipliers, are those of ``foreign``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays import Matrix, Vector
from . import clarabel, highs, piqp
from .deadline import remaining
from .definite import fits_in_memory
from .extended import is_sparse
from .foreign import Found


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
ACTIVE_SET_COLUMNS = 500
"""HiGHS's active-set method is worth its time on faces with up to this many columns."""
ACTIVE_SET_SECONDS = 10.0
COLUMNS_A_ROW = 4
"""So many times more columns than rows make that worth it where some columns have no curvature."""


def portfolio(qp: QP) -> list[Method]:
    """In which order to ask: interior points first, as their answers lie inside the face of all solutions."""
    if not is_sparse(qp.H):
        return [by_piqp, by_clarabel, by_highs]
    diagonal = qp.H.diagonal()
    few_rows = fits_in_memory(qp.low.size, qp.low.size) and qp.H.count_nonzero() == np.count_nonzero(diagonal)
    few_rows &= qp.low.size <= qp.c.size
    few_rows &= bool((diagonal > 0).all()) or COLUMNS_A_ROW * qp.low.size <= qp.c.size
    return [
        *([by_dual_newton] if few_rows else []),
        by_piqp,
        by_clarabel,
        *([by_highs] if qp.c.size <= ACTIVE_SET_COLUMNS else []),
    ]


def by_dual_newton(qp: QP) -> Guess | None:
    """Newton's method on the dual of a diagonal Hessian."""
    from .dual_newton import maximise_by_stages, with_slack_columns

    h = qp.H.diagonal()
    problem = with_slack_columns(h, qp.c, qp.G, qp.low, qp.high, qp.lower, qp.upper)
    found = maximise_by_stages(problem, np.append(h < problem.h[: h.size], np.zeros(problem.h.size - h.size, bool)))
    return None if found is None else _guess(Found(found[0][: qp.c.size], found[1], "done"))


def by_bounded_newton(qp: QP) -> Guess | None:
    """Newton's method on sums of squares over bounds: for rows F v - s = 0 alone, s the last columns."""
    from .bounded_newton import Squares, minimise_over_bounds

    n, diagonal = qp.c.size - qp.low.size, qp.H.diagonal()
    F = qp.G[:, :n]
    v = minimise_over_bounds(Squares(F, diagonal[n:], diagonal[:n], qp.c[:n], qp.lower[:n], qp.upper[:n]))
    return None if v is None else _guess(Found(np.append(v, F @ v), np.zeros(qp.low.size), "done"))


def by_piqp(qp: QP) -> Guess | None:
    """PIQP's interior-point method."""
    return _guess(piqp.solve(*qp, seconds=remaining()))


def by_clarabel(qp: QP) -> Guess | None:
    """Clarabel's interior-point method."""
    return _guess(clarabel.solve(*qp, seconds=remaining())[0])


def by_highs(qp: QP) -> Guess | None:
    """HiGHS's active-set method, at most ten seconds."""
    return _guess(highs.solve_quadratic(*qp, seconds=min(ACTIVE_SET_SECONDS, remaining())))


def _guess(found: Found | None) -> Guess | None:
    return Guess(found.x, found.y) if found is not None and found.finite else None
