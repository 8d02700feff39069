"""What is proved before a polyhedron is a domain: it has a point, it has no ray, and a box holds it."""

from __future__ import annotations

import numpy as np

from ..arrays import Vector
from .lp_model import LinearProgram, LinearProgramError, Rows, power_of_two


def feasible_point(rows: Rows) -> Vector:
    """A vertex, or an error where there is none."""
    try:
        return LinearProgram(rows, _rough_scale(rows)).solve(np.zeros_like(rows.lower)).x
    except LinearProgramError as error:
        if error.status != "Infeasible":
            raise
        raise ValueError("the polyhedron is empty: no point satisfies all rows and bounds") from None


def refuse_unbounded(rows: Rows) -> None:
    """An error unless all entries of a direction are 0 on the recession cone, cut off at |d_j| <= 1.

    A ray scaled to a largest entry of 1 has that entry in a free variable, and is found by the two programmes
    of that variable, or in one bounded on one side, and is found by the one programme that those share.
    """
    has_low, has_high = np.isfinite(rows.lower), np.isfinite(rows.upper)
    if (has_low & has_high).all():
        return
    cone = Rows(
        rows.A,
        np.where(np.isfinite(rows.low), 0.0, -np.inf),
        np.where(np.isfinite(rows.high), 0.0, np.inf),
        np.where(has_low, 0.0, -1.0),
        np.where(has_high, 0.0, 1.0),
    )
    programme = LinearProgram(cone, np.ones(len(has_low)))
    one_sided = has_high.astype(float) - has_low.astype(float)
    costs = [one_sided] if one_sided.any() else []
    for j in np.flatnonzero(~has_low & ~has_high):
        costs += [_unit(len(has_low), j), -_unit(len(has_low), j)]
    for cost in costs:
        ray = programme.solve(cost).x
        if float(cost @ ray) < -0.5:
            far = int(np.argmax(np.abs(ray)))
            moving = ", ".join(f"x[{i}] by {ray[i]:.3g}" for i in np.flatnonzero(np.abs(ray) > 1e-9)[:5])
            raise ValueError(
                f"the polyhedron is unbounded: x[{far}] has no bound {'above' if ray[far] > 0 else 'below'} "
                f"(a ray moves {moving}); add bounds or rows that hold it"
            )


def outer_box(rows: Rows) -> Rows:
    """The rows with finite bounds on all variables: the given ones, or implied ones where those are missing.

    Implied bounds are proved as follows. Let B hold a point of the set, and let 2B be B with its implied
    sides moved out. If weak duality over 2B gives bounds inside B, the part of the set in 2B lies in B; being
    convex, the set cannot have a point outside 2B either.
    """
    free_low, free_high = np.isinf(rows.lower), np.isinf(rows.upper)
    if not (free_low | free_high).any():
        return rows
    programme = LinearProgram(rows, _rough_scale(rows))
    lower, upper = rows.lower.copy(), rows.upper.copy()
    solved = []
    for side, end, sign in ((lower, free_low, -1.0), (upper, free_high, 1.0)):
        for j in np.flatnonzero(end):
            cost = -sign * _unit(len(lower), j)
            solution = programme.solve(cost)
            solved.append((j, sign, cost, solution.duals))
            side[j] = solution.x[j]
    margin = 1e-6 * (np.maximum(np.abs(lower), np.abs(upper)) + float((upper - lower).max()) + 1e-300)
    for _ in range(20):
        inner = rows._replace(
            lower=np.where(free_low, lower - margin, lower), upper=np.where(free_high, upper + margin, upper)
        )
        reach = inner.upper - inner.lower
        outer = rows._replace(
            lower=np.where(free_low, inner.lower - reach, lower),
            upper=np.where(free_high, inner.upper + reach, upper),
        )
        proved = rows._replace(lower=rows.lower.copy(), upper=rows.upper.copy())
        for j, sign, cost, duals in solved:
            (proved.upper if sign > 0 else proved.lower)[j] = -sign * outer.dual_bound(cost, duals)
        if (proved.lower >= inner.lower).all() and (proved.upper <= inner.upper).all():
            return proved
        margin *= 4
    raise ValueError(
        "the rows do not bound every variable to working precision; add bounds, or scale the rows"
    )


def _unit(n: int, j: np.intp) -> Vector:
    e = np.zeros(n)
    e[j] = 1.0
    return e


def _rough_scale(rows: Rows) -> Vector:
    """Column scales from the data alone: a variable's own bounds, else the middle size of all row ends."""
    own = np.maximum(np.abs(rows.lower), np.abs(rows.upper))
    largest = abs(rows.A).max(axis=1).toarray().ravel() if rows.A.nnz else np.ones(rows.A.shape[0])
    ends = np.abs(np.where(np.isfinite(rows.high), rows.high, rows.low))
    sizes = (ends / np.where(largest > 0, largest, 1.0))[ends > 0]
    common = float(np.median(sizes)) if sizes.size else 1.0
    return power_of_two(np.where(np.isfinite(own), own, common))
