"""What is proved of a polyhedron: that it has a point, and that a box holds it, or that no box is known to."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..arrays import UNIT_ROUNDOFF, Vector
from .csr import row_numbers
from .deadline import afford
from .failures import EmptySet, LinearProgramError, NoBox
from .farkas import shown_empty
from .linear_programme import LinearProgram
from .propagation import propagated
from .rows import Rows, power_of_two
from .scaling import ends, variable_sizes

TIGHTEN = 200
"""Up to this many missing bounds, each gets a linear programme of its own."""

NOT_SHOWN = "the rows do not bound every variable to working precision; add bounds, or scale the rows"


def feasible_point(rows: Rows) -> Vector:
    """A vertex; ``EmptySet`` where it is proved that there is none."""
    empty = "the polyhedron is empty: no point satisfies all rows and bounds"
    implied = propagated(rows)
    if (implied.lower > implied.upper).any():
        raise EmptySet(empty)
    try:
        x = LinearProgram(rows, rough_scale(implied)).solve(np.zeros_like(rows.lower)).x
        free = np.bincount(rows.A.indices, minlength=x.size) == 0  # in no row: no reason to be far out
        return np.where(free, np.clip(0.0, rows.lower, rows.upper), x)
    except LinearProgramError as error:
        if error.ray is None or not shown_empty(implied, error.ray):
            raise
        raise EmptySet(empty) from None


def loose_box(rows: Rows, point: Vector) -> Rows:
    """The same bounds, none of them tightened: a few times as far out, at the cost of one linear programme."""
    implied = propagated(rows)
    if np.isfinite(implied.lower).all() and np.isfinite(implied.upper).all():
        return implied
    refuse_free_columns(implied)
    return _proved_box(implied, point)


def outer_box(rows: Rows, point: Vector) -> Rows:
    """The rows with finite bounds on all variables: implied ones where the given ones are missing or generous.

    ``NoBox`` where there is none.
    """
    implied = propagated(rows)
    missing = np.flatnonzero(~np.isfinite(np.concatenate([implied.lower, implied.upper])))
    if missing.size == 0:
        return implied
    refuse_free_columns(implied)
    box = _proved_box(implied, point)
    if missing.size > TIGHTEN:
        return box
    programme = LinearProgram(rows, rough_scale(box))
    tight = box._replace(lower=box.lower.copy(), upper=box.upper.copy())
    n = rows.lower.size
    for side in missing:
        j, sign = side % n, (1.0 if side < n else -1.0)
        cost = np.zeros(n)
        cost[j] = sign
        try:
            duals = programme.solve(cost).duals
        except LinearProgramError:  # as where the set is a point in some columns, too thin to scale by: the box holds
            continue
        (tight.lower if sign > 0 else tight.upper)[j] = sign * box.dual_bound(cost, duals)
    return tight._replace(lower=np.maximum(box.lower, tight.lower), upper=np.minimum(box.upper, tight.upper))


def _proved_box(rows: Rows, point: Vector) -> Rows:
    """A box around the set, or an error with a ray.

    With the bounds among the rows, each scaled to norm 1 and those with one end turned to R_i x <= h_i, the
    set is bounded if and only if R has full column rank and y_i >= 1 exist with sum y_i R_i a combination of
    the rows with two ends (Stiemke's lemma): one linear programme over the recession cone finds those, or a
    ray. The slacks of the rows with one end then have a bounded sum, so that all rows have two ends, and the
    pseudoinverse of R turns those into bounds on x.

    None of this is exact in floating point. Let B be the box found, and 2B a larger one. The bounds are
    computed for the part of the set in 2B, where a residual costs at most its size times that of 2B. If they
    lie in B, that part does, and the set, being convex, cannot have a point outside 2B: it has one inside.
    """
    n = rows.lower.size
    own = np.isfinite(rows.lower) | np.isfinite(rows.upper)
    afford((rows.low.size + int(own.sum()) + 4 * n) * float(n) ** 2)  # of the singular value decomposition
    R = np.vstack([rows.A.toarray(), np.eye(n)[own]])
    low, high = np.append(rows.low, rows.lower[own]), np.append(rows.high, rows.upper[own])
    norms = np.linalg.norm(R, axis=1)
    used = norms > 0
    R, low, high = R[used] / norms[used, None], low[used] / norms[used], high[used] / norms[used]
    turned = np.isinf(high)
    R[turned], low[turned], high[turned] = -R[turned], -high[turned], -low[turned]
    one = np.isinf(low)
    cost = R[one].sum(axis=0)
    cone = Rows(sp.csr_array(R), np.where(one, -np.inf, 0.0), np.zeros(len(R)), np.full(n, -1.0), np.full(n, 1.0))
    try:
        solution = LinearProgram(cone, np.ones(n)).solve(cost)
    except LinearProgramError:  # as where the cone is open by rounding alone
        raise NoBox(NOT_SHOWN) from None
    if float(cost @ solution.x) < -1e-7:
        raise _unbounded(solution.x)
    left, values, right = np.linalg.svd(R, full_matrices=len(R) < n)
    if len(R) < n or values[-1] <= 1e-12:
        raise _unbounded(right[-1] / np.abs(right[-1]).max())
    G = (right.T / values) @ left.T
    duals = np.asarray(solution.duals, dtype=np.float64)
    y = np.where(one, 1.0 + np.maximum(-duals, 0.0), -duals)
    slope = np.abs(y @ R)  # zero but for rounding
    lost = np.abs(np.eye(n) - G @ R) + 4 * len(R) * UNIT_ROUNDOFF * np.abs(G) @ np.abs(R)

    def bounds(reach: Vector) -> tuple[Vector, Vector]:
        ends = np.where(one | (y > 0), y * high, y * np.where(one, 0.0, low))
        rounding = 4 * len(R) * UNIT_ROUNDOFF * float(np.abs(ends).sum() + np.abs(y) @ np.abs(R) @ reach)
        total = float(ends.sum() + slope @ reach) + rounding
        bottom = np.where(one, high - max(total, 0.0) / np.where(one, y, 1.0), low)
        middle, half = (high + bottom) / 2, (high - bottom) / 2
        center, width = G @ middle, np.abs(G) @ half + lost @ reach
        width += 4 * len(R) * UNIT_ROUNDOFF * np.abs(G) @ np.abs(middle)
        return (
            np.where(np.isinf(rows.lower), center - width, rows.lower),
            np.where(np.isinf(rows.upper), center + width, rows.upper),
        )

    reach = np.zeros(n)
    for _ in range(20):
        lower, upper = bounds(reach)
        inner = 2 * np.maximum(np.maximum(np.abs(lower), np.abs(upper)), np.abs(point))
        inner += 1e-6 * float(inner.max())
        lower, upper = bounds(2 * inner)
        if (np.maximum(np.abs(lower), np.abs(upper)) <= inner).all():
            return rows._replace(lower=lower, upper=upper)
        reach = 4 * inner
    raise NoBox(NOT_SHOWN)


def refuse_free_columns(rows: Rows) -> None:
    """``NoBox`` where a variable may go on for ever by itself: what most unbounded sets have, at next to no cost."""
    A, row = rows.A, row_numbers(rows.A)
    up, down = np.isinf(rows.upper), np.isinf(rows.lower)
    above, below = np.isfinite(rows.high)[row], np.isfinite(rows.low)[row]
    rises, falls = A.data > 0, A.data < 0
    up[A.indices[(rises & above) | (falls & below)]] = False
    down[A.indices[(rises & below) | (falls & above)]] = False
    for free, sign in ((up, 1.0), (down, -1.0)):
        if free.any():
            ray = np.zeros(free.size)
            ray[int(np.argmax(free))] = sign
            raise _unbounded(ray)


def _unbounded(ray: Vector) -> NoBox:
    far = int(np.argmax(np.abs(ray)))
    moving = ", ".join(f"x[{i}] by {ray[i]:.3g}" for i in np.flatnonzero(np.abs(ray) > 1e-9)[:5])
    return NoBox(
        f"the polyhedron is unbounded: x[{far}] has no bound {'above' if ray[far] > 0 else 'below'} "
        f"(a ray moves {moving}); add bounds or rows that hold it",
        ray,
    )


def rough_scale(box: Rows) -> Vector:
    """The size of each variable by the data alone, a power of two."""
    return variable_sizes([(box.A, ends(box))], box)


def typical_size(box: Rows, point: Vector) -> Vector:
    """The size of each variable, a power of two: by the data, and no smaller than at a vertex."""
    return np.maximum(rough_scale(box), np.where(point != 0, power_of_two(np.abs(point)), 0.0))
