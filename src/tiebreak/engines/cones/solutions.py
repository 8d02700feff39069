"""The minimisers of a level whose slope vanishes at them: these are {x in Z : K x = K x*, G x <= h}.

Let H be that set without Z, for the unconstrained minimisers x* of g in the affine hull of Z. Rows of data whose losses
bend at the minimisers are in K: by strong convexity along them a point with slope c is within |c| / mu of H. Rows whose
losses are linear there stay on their flat pieces, which the rows G x <= h say. If some x_c with a ball of radius rho
around it in Z and on all flat pieces is nearer to H than rho, H meets the interior of Z, and the slope is zero at all
minimisers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.clarabel import solve_conic
from ...numerics.deadline import remaining
from ...numerics.extended import UNIT, Ext, ExtMatrix, dense, double, ext
from ...numerics.rank import exact_rank
from ...sets.base import Domain
from ...sets.round.description import Conic, Round
from .conic import TOLERANCE
from .growth import SVD_UNITS
from .level import Level, Local
from .polish import polish

RANK = 1e-10
"""Singular values of the data below this, relative to the largest, count as zero."""

RANKS = "singular values of the lower level's data below 1e-10 of the largest are zero"

AT_A_KINK = 1e-6
"""Predictions closer to where a loss begins to bend than this, relative to typical ones, are taken for flat."""


class Flat:
    """What the data of a level say near a point: rows K that bend, rows G x <= h that stay flat, and whether slopes of
    flat ones add up to anything."""

    def __init__(self, level: Level, x: Vector) -> None:
        curved, self.steep = [np.zeros((0, level.dim))], False
        G, h = [np.zeros((0, level.dim))], [np.zeros(0)]
        for term, data in level.terms:
            loss, rows = term.loss, np.eye(level.dim) if data is None else dense(data.A)
            if loss.strictly_convex:
                curved.append(rows)
                continue
            t, nudge = rows @ x, 2 * AT_A_KINK * loss.typical
            at_kink = loss.room(t) <= AT_A_KINK * loss.typical
            down = loss.curvature(t - nudge) < loss.curvature(t + nudge)
            inside = np.where(at_kink, np.where(down, t - nudge, t + nudge), t)
            flat = loss.curvature(inside) == 0
            curved.append(rows[~flat])
            self.steep |= bool(loss.value_and_slope(inside)[1][flat].any())
            low, high = loss.flat_ends(inside)
            for sign, ends in ((-1.0, -low), (1.0, high)):
                kept = flat & np.isfinite(ends) & rows.any(axis=1)
                G.append(sign * rows[kept])
                h.append(ends[kept])
        curved += [dense(data.A) for _, data in level.bends]
        self.K, self.G, self.h = np.vstack(curved), np.vstack(G), np.concatenate(h)
        self.lengths = np.linalg.norm(self.G, axis=1)

    def off(self, x: Ext) -> Vector:
        """At least by how much each flat row is beyond its end, rounding of both included."""
        sizes = np.abs(self.G) @ np.abs(double(x)) + np.abs(self.h)
        return double(ext(self.G) @ x - ext(self.h)) + (2 * UNIT_ROUNDOFF + (x.size + 8) * UNIT) * sizes


@dataclass(frozen=True)
class Solutions:
    """The minimisers of the lower level by rows: E x = t, orthonormal rows, and those of ``flat``; ``mu`` is the
    modulus along E.

    A point of Z is so near to ``center`` that the ball of ``room`` around it less ``center_off`` is in Z, and on all
    flat pieces, and the minimisers are within ``center_off`` of it. ``by_rank`` says that the rank of the data was
    decided, not shown. ``K'(turn w)`` is E'w, for the data K.
    """

    E: Matrix
    t: Ext
    turn: Matrix
    data: ExtMatrix
    flat: Flat
    center: Vector
    center_off: float
    room: float
    mu: float
    by_rank: bool
    g_lower: float
    g_upper: float
    hull: Matrix | None


def off_rows(here: Local, hull: Matrix | None) -> float:
    """At least the length of the slope in the hull."""
    if hull is None:
        return length(double(here.grad)) * (1 + 1e-12) + here.grad_error
    inner = double(ext(hull.T) @ here.grad)
    size, dim = float(np.linalg.norm(inner)), int(hull.shape[0])
    # rounding of the columns of the hull: the slope may be large across them, as a multiple of the identity is
    return size * (1 + 1e-12) + 8 * (dim + 8) * UNIT * length(double(here.grad)) + here.grad_error


def solutions_inside(level: Level, domain: Domain, shape: Round, conic: Conic, x: Vector) -> Solutions | None:
    """The minimisers where the slope vanishes at them; None where that cannot be shown."""
    if level.kinks is not None:
        return None
    flat = Flat(level, x)
    K = flat.K
    if not K.size and not flat.h.size:
        return None
    inner = K if shape.hull is None else K @ shape.hull
    left, values, right = np.linalg.svd(inner, full_matrices=False)
    largest = float(values.max(initial=0.0))
    noise = SVD_UNITS * sum(K.shape) * UNIT_ROUNDOFF * largest
    rank = int((values > max(RANK * largest, noise)).sum())
    full_columns = rank == inner.shape[1]
    if (rank == 0 and not flat.h.size) or (flat.steep and not full_columns):
        return None
    if double(level.p).any() and not full_columns and not _spanned(level, K, rank):
        return None
    by_rank = not full_columns and rank < inner.shape[0] and (shape.hull is not None or exact_rank(K) != rank)
    E = right[:rank] if shape.hull is None else right[:rank] @ shape.hull.T
    turn = left[:, :rank] / values[:rank]
    t = ext(E) @ polish(level, shape.inside(x)).x
    middle = x if not flat.h.size else _central(shape, conic, E, double(t), flat)
    if middle is None:
        return None
    center = middle + E.T @ double(t - ext(E) @ ext(middle))
    here = level.at(ext(center))
    room = shape.room(center)
    if flat.h.size:
        room = min(room, float((-flat.off(ext(center)) / flat.lengths).min()) * (1 - 1e-12))
    slope = off_rows(here, shape.hull)
    mu = modulus(level, center, slope * room, E)
    if not (mu > 0 and room > 0):
        return None
    beside = domain.distance_outside(center)  # of the hull, by rounding; across it slopes may be steep
    center_off = (slope / mu + 2 * beside) * (1 + 1e-12)
    if not center_off < 0.5 * room:
        return None
    lower = here.below - (slope * center_off + level.fall(here, beside)) * (1 + 1e-12)
    upper = here.above + level.rise(here, ext(center), beside)
    ends = float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf))
    return Solutions(E, t, turn, ExtMatrix(K), flat, center, center_off, room, mu, by_rank, *ends, shape.hull)


def _spanned(level: Level, K: Matrix, rank: int) -> bool:
    """Whether all that is linear in the level is a combination of the rows of K, as they are stored."""
    slopes = np.array([c for c, _ in level.form.linear if c.any()])
    return exact_rank(K) == rank and exact_rank(np.vstack([K, slopes])) == rank


def _central(shape: Round, conic: Conic, E: Matrix, t: Vector, flat: Flat) -> Vector | None:
    """A point with E x = t, as far inside Z and the flat pieces as can be: for the largest share of the way from Z to
    its middle. The points middle + (1 - share) (z - middle), z in Z, have that share of the room of the middle."""
    size, count = shape.size, conic.M.shape[1]
    toward = (shape.middle - conic.origin) / size
    room = shape.room(shape.middle) / size
    rows = [(E, t, np.zeros(t.size)), (flat.G, flat.h, room * flat.lengths)]
    blocks = [sp.hstack([sp.csc_array(conic.M.T @ R.T).T, sp.csc_array((R @ toward + more)[:, None])])
              for R, _, more in rows]  # fmt: skip
    blocks.append(sp.hstack([conic.A, sp.csc_array((conic.b / size)[:, None])]))
    blocks.append(sp.hstack([sp.csc_array((1, count)), sp.csc_array([[1.0]])]))
    ends = [(end - R @ conic.origin) / size for R, end, _ in rows]
    b = np.concatenate([*ends, conic.b / size, [1.0]])
    cones = [("zero", t.size), ("nonnegative", flat.h.size), *conic.cones, ("nonnegative", 1)]
    kept = [(kind, size) for kind, size in cones if size]
    cost = np.append(np.zeros(count), -1.0)
    found = solve_conic(sp.csc_array((count + 1, count + 1)), cost, sp.vstack(blocks), b, kept,
                        tolerance=TOLERANCE, seconds=remaining(), patient=True)  # fmt: skip
    x = conic.origin + size * (found.x[-1] * toward + conic.M @ found.x[:-1])
    return x if np.isfinite(x).all() and found.word in ("Solved", "AlmostSolved", "InsufficientProgress") else None


def modulus(level: Level, x: Vector, gap: float, E: Matrix) -> float:
    """At most the curvature of the level along all rows, for points whose value is above the model by the gap."""
    if not E.size:
        return np.inf
    B, inexact = level.roots(x, gap)
    values = np.linalg.svd(B @ E.T, compute_uv=False)
    sigma = float(values[-1]) - SVD_UNITS * sum(B.shape) * UNIT_ROUNDOFF * float(values[0]) * 2 - inexact
    return sigma**2 * (1 - 1e-12) if sigma > 0 else 0.0
