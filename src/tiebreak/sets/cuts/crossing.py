"""The one-dimensional dual of the cut oracle, maximised by intersecting tangents.

Weak duality gives, for every multiplier lam >= 0,

    min {<a, s> : s in Z, <c, s> <= b}  >=  q(lam) = min {<a + lam c, s> : s in Z} - lam b,

and q is concave. A minimiser s over Z alone at lam, called a vertex here, gives the line <a, s> + lam (<c, s>
- b) that touches q at lam and lies above it everywhere. Two lines are kept: the vertex of ``low`` violates
the cut (its line rises), the vertex of ``high`` satisfies it. The next multiplier is where they cross. The
mix of the two vertices that meets the cut with equality has exactly the value of the crossing, so the
distance from there down to q is a certified gap at every stage. On polytopes the scheme is finite.

References
----------
Handler, Zang: A dual algorithm for the constrained shortest path problem. Networks 10 (1980) 293-309.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from ...kernels.axis_cut import EXACT, MAX_CALLS, SHORTFALL, between
from ..base import CutStatus

__all__ = ["EXACT", "SHORTFALL", "Crossing", "Oracle", "Vertex", "cross"]


class Vertex(NamedTuple):
    """A minimiser of <a + lam c, .> over Z: its inner products, the size of their terms, and the point."""

    lam: float
    a: float
    c: float
    size_a: float
    size_c: float
    point: Any


Oracle = Callable[[float, float], "Vertex | None"]
"""``oracle(lam, level)``: a vertex at lam (lam = inf: of <c, .>), or None where none is below ``level``.

A finite level is the height of the crossing at lam: by concavity, a vertex whose own line does not pass below
it lies above q all the way from ``low`` to ``high``, and an oracle that lists its vertices may forget it.
"""


class Crossing(NamedTuple):
    """The point ``weight * low + (1 - weight) * high``, with its multiplier, certified gap and status."""

    weight: float
    low: Vertex
    high: Vertex
    multiplier: float
    gap: float
    status: CutStatus

    def mix(self) -> list[tuple[float, Any]]:
        """The weights above zero and the points they belong to."""
        pairs = [(self.weight, self.low.point), (1.0 - self.weight, self.high.point)]
        return [(weight, point) for weight, point in pairs if weight > 0]


def cross(oracle: Oracle, b: float, warm: float, tol: float) -> Crossing:
    """Maximise q by tangents, until the gap is below ``tol`` relative to the terms of the inner products.

    ``tol`` is also the error allowed in <c, s>: a vertex that exceeds b by less satisfies the cut. Without
    that, rounding would split the face of minimisers of <c, .> when b is the minimum.
    """
    low = high = None
    if 0 < warm < inf:
        first = _vertex(oracle, warm)
        if first.c <= b:
            high = first
        else:
            low = first
    if low is None:
        low = _vertex(oracle, 0.0)
        if low.c <= b:
            return Crossing(1.0, low, low, 0.0, 0.0, CutStatus.INACTIVE)
    boundary = False
    if high is None:
        high = _vertex(oracle, inf)
        if high.c > b + max(tol, SHORTFALL) * (max(low.size_c, high.size_c) + abs(b)):
            return Crossing(0.0, low, high, inf, inf, CutStatus.INFEASIBLE)
        boundary, b = high.c > b, max(b, high.c)
    size_a, size_c = max(low.size_a, high.size_a), max(low.size_c, high.size_c) + abs(b)
    while low.c <= b + tol * size_c:  # low satisfies the cut after all, up to rounding
        if low.lam == 0.0:
            status = CutStatus.BOUNDARY if boundary else CutStatus.INACTIVE
            return Crossing(1.0, low, low, inf if boundary else 0.0, inf if boundary else 0.0, status)
        low, high = _vertex(oracle, 0.0), low

    best, multiplier, unit, mark, patience = -inf, 0.0, 0.0, inf, 3
    for call in range(MAX_CALLS):
        run = low.c - high.c
        weight = max((b - high.c) / run, 0.0)
        value = weight * low.a + (1.0 - weight) * high.a
        lam = min(max((high.a - low.a) / run, low.lam), high.lam)
        unit = unit or lam
        bisect = patience == 0
        if bisect:
            lam = between(low.lam, high.lam, unit or 1.0)
        level = min(low.a + lam * low.c, high.a + lam * high.c)
        new = oracle(lam, inf if bisect else level)
        bound = (level if new is None else min(level, new.a + lam * new.c)) - lam * b
        if bound > best:
            best, multiplier = bound, lam
        gap = value - best
        if new is None or call == MAX_CALLS - 1:
            break
        size_a, size_c = max(size_a, new.size_a), max(size_c, new.size_c)
        if gap <= tol * (size_a + lam * size_c):
            break
        if gap <= mark / 2:
            mark, patience = gap, 3
        else:
            patience = patience - 1 if patience else 3
        if new.c <= b + tol * size_c:
            high = new
        else:
            low = new
    if boundary:
        return Crossing(weight, low, high, inf, inf, CutStatus.BOUNDARY)
    return Crossing(weight, low, high, multiplier, max(gap, 0.0), CutStatus.ACTIVE)


def _vertex(oracle: Oracle, lam: float) -> Vertex:
    vertex = oracle(lam, inf)
    assert vertex is not None, "an oracle returns a vertex below any infinite level"
    return vertex
