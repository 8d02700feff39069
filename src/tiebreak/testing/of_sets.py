"""Whether a set keeps its word: its oracles, and what it says of itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Vector, as_count, as_seed
from ..sets import CutStatus, Domain
from .checks import Checks, dimension, expect


def check_set(domain: Domain, dim: int | None = None, seed: int = 0, trials: int = 10) -> int:
    """Check the oracles of a set, and what it says of itself, against each other in random directions.

    A set without ``lmo``, such as an unbounded one, is checked by its projections.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.testing.check_set(tb.Simplex(), dim=4) > 50
    True
    """
    expect(domain, Domain, "domain")
    trials = as_count(trials, "trials")
    checks, rng = Checks(), np.random.default_rng(as_seed(seed))
    size = dimension(domain.dim, dim, "the set")
    directions = [rng.standard_normal(size) for _ in range(trials)] + [np.zeros(size)]
    if "lmo" not in domain.oracles:
        _check_by_projections(checks, domain.with_dim(size), directions)
        return checks.made
    corners = [domain.lmo(c) for c in directions]
    reach = 1 + max(float(np.linalg.norm(s)) for s in corners)
    tol = 1e-7 * reach
    for c, s in zip(directions, corners, strict=True):
        checks.that(domain.contains(s), "lmo must return a point of the set")
        checks.that(all(c @ s <= c @ other + tol for other in corners), "lmo must return a minimiser")
        checks.that(domain.lmo_bound(c, s) <= c @ s + tol, "lmo_bound must not exceed <c, lmo(c)>")
    distances = [float(np.linalg.norm(s - other)) for s in corners for other in corners]
    checks.that(max(distances) <= domain.diameter * (1 + 1e-9) + tol, "diameter must bound all distances")
    if "project" in domain.oracles:
        for x in directions:
            _check_projection(checks, domain, 3 * reach * x, corners, tol * reach)
    if "lmo_cut" in domain.oracles:
        for a, c in pairwise(directions):
            _check_cut(checks, domain, a, c, corners, tol)
    _check_description(checks, domain.with_dim(size), directions, corners, tol)
    return checks.made


def _check_by_projections(checks: Checks, domain: Domain, directions: list[Vector]) -> None:
    """Projections against each other, and against what the set says of itself."""
    points = [domain.project(factor * x) for x in directions for factor in (1.0, 100.0)]
    tol = 1e-7 * (1 + max(float(np.linalg.norm(p)) for p in points))
    checks.that("lmo_cut" not in domain.oracles, "a set without lmo has no lmo_cut")
    checks.that(domain.contains(domain.some_point()), "some_point must be a point of the set")
    signs, rows = domain.signs(directions[0].size), domain.rows
    for x in directions:
        _check_projection(checks, domain, 10 * x, points, tol)
    for p, q in pairwise(points):
        checks.that(domain.contains((p + q) / 2, 1e-8), "the set must be convex")
        checks.that(domain.distance_outside(p) <= tol, "distance_outside must be small for a point of the set")
        checks.that(bool((signs * p >= -tol).all()), "signs must be those of all points")
        if rows is not None and not rows.limits_sizes:
            missed = max(rows.plain.missed_by(p), float(np.maximum(rows.lower - p, p - rows.upper).max()))
            checks.that(missed <= tol, "rows must hold at all points")
    apart = max(float(np.linalg.norm(p - q)) for p in points for q in points)
    checks.that(apart <= domain.diameter * (1 + 1e-9) + tol, "diameter must bound all distances")


def _check_projection(checks: Checks, domain: Domain, x: Vector, corners: list[Vector], tol: float) -> None:
    p = domain.project(x)
    checks.that(domain.contains(p, 1e-8), "project must return a point of the set")
    checks.that(
        all((x - p) @ (s - p) <= tol * (1 + float(np.linalg.norm(x))) for s in corners),
        "project must return the nearest point (variational inequality)",
    )
    checks.that(np.abs(domain.project(p) - p).max() <= tol, "projecting twice must change nothing")


def _check_cut(checks: Checks, domain: Domain, a: Vector, c: Vector, corners: list[Vector], tol: float) -> None:
    least, most = float(c @ domain.lmo(c)), float(c @ domain.lmo(-c))
    middle = 0.5 * (least + most)
    cut = domain.lmo_cut(a, c, middle)
    checks.that(domain.contains(cut.point), "the point of a cut must be in the set")
    checks.that(c @ cut.point <= middle + tol, "the point of a cut must satisfy the cut")
    checks.that(cut.multiplier >= 0 and np.isfinite(cut.multiplier), "a feasible cut has a multiplier >= 0")
    allowed = [s for s in corners if c @ s <= middle]
    checks.that(all(a @ cut.point <= a @ s + cut.gap + tol for s in allowed), "the point of a cut must be optimal")
    slope = a + cut.multiplier * c
    dual = float(slope @ domain.lmo(slope)) - cut.multiplier * middle
    checks.that(abs(a @ cut.point - dual) <= cut.gap + tol * (1 + cut.multiplier), "the multiplier must close the gap")
    if most - least > tol:
        empty = domain.lmo_cut(a, c, least - (most - least))
        checks.that(empty.status is CutStatus.INFEASIBLE, "a cut that misses the set must be infeasible")


def _check_description(
    checks: Checks, domain: Domain, directions: list[Vector], corners: list[Vector], tol: float
) -> None:
    """Signs, sizes, rows and axes are those of the points that ``lmo`` returns."""
    from ..sets.epigraph import signed_parts

    signs, rows, axes = domain.signs(corners[0].size), domain.rows, domain.axes
    for c, s in zip(directions, corners, strict=True):
        checks.that((signs * s >= 0).all(), "signs must be those of all points")
        size = np.abs(c)
        checks.that(size @ np.abs(s) <= domain.largest(size) + tol, "largest must bound <size, |s|>")
        if axes is not None:
            slopes = np.concatenate([c * axes.extents, -c * axes.extents if axes.signed else []])
            checks.that(abs(float(slopes.min()) - c @ s) <= tol, "axes must be the vertices of the set")
    if rows is not None:
        parted, lifted = rows.absolute, signed_parts(domain, rows.absolute)
        for c, s in zip(directions, corners, strict=True):
            parts = lifted.lmo(np.append(c, -c[parted]))
            x = parts[: s.size]
            x[parted] -= parts[s.size :]
            checks.that(domain.contains(x, 1e-8), "points that satisfy the rows must be in the set")
            checks.that(abs(c @ x - c @ s) <= tol, "linear minima over the rows must be those of lmo")
