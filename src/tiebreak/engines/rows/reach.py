"""How far the images of a level's true minimisers can be from that of its point, by the gradient.

Let p be a true solution of the levels before, at a distance of |p - x|_H <= shift from the point x, H the Hessian and
x* a true minimiser. The step d = x* - p changes nothing held, E d = 0, and <grad f(x*), d> <= 0, so that

    |d|_H^2 <= -<c, d> + shift |d|_H,   c the gradient at x, of which only what E leaves matters.

For any v and y with c = Hv + E'y + rest on the unfixed columns, -<c, d> <= |v|_H |d|_H + |rest| |d|. (Rows that are
not held, but have multipliers, add those times the distance of p from their ends: ``loose``, under the square root.
So do columns at a bound with a multiplier of the right sign; their part of c is then left out.)
As |d| is no larger than the set, |d|_H <= |v|_H + shift + sqrt(|rest| |d|), whatever the ranks. If c belongs to the
range of H and E' for certain, and no such row or column takes a part out of that, d may be taken without directions
that change neither, so that |d| <= |d|_H/sigma with sigma^2 the smallest nonzero curvature where E d = 0: then
|d|_H <= |v|_H + shift + |rest|/sigma, linear in the residual, where the difference of two values would give its square
root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.definite import least_singular_value
from ...numerics.extended import between, column_squares, dense, ext
from ...numerics.rank import EPS, exact_rank, resolved
from ...numerics.rows import power_of_two
from .held import LONG, Held
from .level import Definite, Level
from .slope import Slope
from .stretch import RIGID, Stretch


class Reach(NamedTuple):
    """A bound on |x* - x|_H for all minimisers x*, and whether being held and having their images is to be one."""

    length: float
    exact: bool
    certain: bool  # whether the rank of the images is known
    stretch: Stretch = RIGID
    rank: int | None = None  # that rank, where nothing else is held

    @property
    def grown(self) -> float:
        """A bound on what the gradient changes by, in the norm dual to |.|_H: where H grows, more than the length."""
        growth = self.stretch.steepness * self.length
        return self.length * float(np.exp(growth)) if growth < 500 else np.inf


class Curvature(NamedTuple):
    """The singular values of a root of H where E d = 0 (those not zero for certain), and how well they are known."""

    basis: Matrix  # of E's null space, in scaled columns
    values: Vector
    vectors: Matrix
    least: float


def reach(held: Held, level: Level, slope: Slope, shift: float, loose: float, whole: bool = True) -> Reach | None:
    """The bound from what multipliers left of the gradient at the point; None where it would take too long.

    ``loose`` bounds what the multipliers of rows that are not held can gain, as p need not be at their ends, and
    ``whole`` says that no column's part of the gradient is left out.
    """
    S = held.columns
    if S.size == 0:
        return Reach(shift + np.sqrt(loose), True, True)  # there is no step, but for what is loose
    large = level.quadratic and float(level.height) * S.size**2 > LONG
    if large and (found := _definite(held, level, slope, shift, loose)) is not None:
        return found
    if not held.small(level):
        return None
    root = level.root(S)
    scale = _scale(held, root)
    E = dense(held.E) / held.scale * scale
    own = _curvature(E, root * scale, level.by_gram, level.tall)
    left = slope.left[S] * scale
    v = own.basis @ (own.vectors @ ((own.vectors.T @ (own.basis.T @ left)) / own.values**2))
    full = ext(np.zeros(level.dim))
    full[S] = v * scale
    image, square, lost = level.hessian_product(full)
    along = float(np.sqrt(max(0.0, square))) * (1 + 1e-12)
    rest = left - image[S] * scale
    rest = rest - E.T @ np.linalg.lstsq(E.T, rest, rcond=None)[0] if E.size else rest
    unexplained = float(np.linalg.norm(rest)) * 1.01 + float(np.linalg.norm(slope.error[S] * scale))
    unexplained += (8 + E.shape[0]) * EPS * float(np.linalg.norm(left))
    unexplained += float(np.linalg.norm(np.broadcast_to(lost, (level.dim,))[S] * scale))
    along += slope.image_error
    certain, exact = _decided(held, level, E, scale, own)
    box = held.face.box
    width = float(np.linalg.norm((box.upper - box.lower)[S] / scale))
    bent = scale[:, None] * (own.basis @ (own.vectors / own.values))
    slack = 1 - own.least / float(own.values[-1]) if certain and own.values.size else float(not certain)
    stretch = level.stretch(S, bent, slack)
    length = stretch.length(1.01 * (along + shift), 1.01 * (unexplained * width + loose))
    if exact and whole and not loose:
        rest_along = unexplained / own.least if own.values.size else 0.0
        length = min(length, stretch.length(1.01 * (along + shift + rest_along), 0.0))
    rank = own.values.size if certain and not E.shape[0] else None
    return Reach(1.01 * (length + shift), exact, certain, stretch, rank)


def _definite(held: Held, level: Level, slope: Slope, shift: float, loose: float) -> Reach | None:
    """The same for a Hessian that is positive definite on all of the columns: |d| <= |d|_H/sigma whatever is held."""
    S = held.columns
    if level.bends or level.height < S.size:
        return None
    heights = [level.dim if s.F is None else s.F.shape[0] for s in level.squares]
    weights = [np.broadcast_to(np.sqrt(s.scales), h) for s, h in zip(level.squares, heights, strict=True)]
    root = between(np.concatenate(weights), level.rows[:, S], np.ones(S.size))
    scale = 1 / power_of_two(np.sqrt(column_squares(root, np.ones(root.shape[0]))))
    least = least_singular_value(between(np.ones(root.shape[0]), root, scale))
    if not least > 0:
        return None
    level.definite.append(Definite(S, scale, least))
    rest = float(np.linalg.norm(slope.left[S] * scale)) + float(np.linalg.norm(slope.error[S] * scale))
    length = slope.image_error + rest * (1 + 1e-10) / least + np.sqrt(loose)
    return Reach(1.01 * (float(length) + 2 * shift), True, True)


def _scale(held: Held, root: Matrix) -> Vector:
    """Powers of two that give the columns of E and of the root size 1."""
    largest = float(np.abs(root).max(initial=0.0)) or 1.0
    sizes = np.hypot(np.linalg.norm(root / largest, axis=0), np.linalg.norm(dense(held.E), axis=0) / held.scale)
    return np.where(sizes > 0, 1 / power_of_two(sizes), held.scale)


def _curvature(E: Matrix, root: Matrix, squared: bool, tall: int) -> Curvature:
    """For a root that was taken of H itself (``squared``), H's rounding is what matters."""
    basis, tilt, within = np.eye(root.shape[1]), 0.0, root
    if E.size:
        _, sizes, right = np.linalg.svd(E, full_matrices=E.shape[0] < E.shape[1])
        rank = int(np.sum(sizes > 2 * resolved(sizes, E.shape)))
        basis = right[rank:].T
        tilt = 2 * resolved(sizes, E.shape) / float(sizes[rank - 1]) if rank else 0.0
        within = root @ basis
    if not basis.size or not root.size:
        return Curvature(basis, np.zeros(0), np.zeros((basis.shape[1], 0)), np.inf)
    _, values, right = np.linalg.svd(within, full_matrices=False)
    size = float(values[0] if within is root else np.linalg.norm(root, 2))
    error = resolved(np.array([size]), (tall, *root.shape)) + size * tilt
    least = np.sqrt(np.maximum(values**2 - size * error, 0)) if squared else np.maximum(values - error, 0)
    counted = int(np.sum(least > error if not squared else values**2 > 2 * size * error))
    return Curvature(basis, values[:counted], right[:counted].T, float(least[counted - 1]) if counted else np.inf)


def _decided(held: Held, level: Level, E: Matrix, scale: Vector, own: Curvature) -> tuple[bool, bool]:
    """Whether the rank of E and H is known, and whether the gradient has no part outside their range."""
    n, rank = held.columns.size, held.rank + own.values.size
    if rank == n:
        return True, True
    images = dense(level.rows[:, held.columns]) * scale
    rows = np.vstack([E, images / _size(images)])
    certain = rank in (rows.shape[0], np.count_nonzero(rows.any(axis=0))) or exact_rank(rows) == rank
    more = dense(level.steady[:, held.columns]) * scale
    if not certain or not more.any():
        return certain, certain
    return True, exact_rank(np.vstack([rows, more / _size(more)])) == rank


def _size(values: Vector) -> float:
    return float(power_of_two(np.array([np.abs(values).max(initial=0.0)]))[0])
