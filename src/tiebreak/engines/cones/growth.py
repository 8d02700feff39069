"""How far the minimisers of a level can be from a point: by the growth of the set and the curvature of the level.

For x in Z with slope c, n with x in argmin over Z of <n, .>, r = c - n, and any minimiser x*, e = x - x*:
    |B e|^2 + <n, x* - x> <= <c - c*, e> + <n, x* - x> <= <r, e> =: Q,
as <c*, x - x*> >= 0. So a growth |e| <= alpha sqrt(Q) + beta Q gives |e| <= alpha^2 |r| / (1 - beta |r|)^2: a bound
that is linear in the residual, though growth is quadratic. Kinks in the level help: leaving the surface E x = t on
which x is costs at least ``margin`` times the distance from it, which is on the left side, too. As x may miss the
surface by rounding, its slope may be one with a deficit: that is added to Q.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Matrix, length
from ...numerics.extended import Ext, double, product, product_units
from ...sets.round.description import Chart, Growth
from .level import Level
from .polish import Polished, polish

SVD_UNITS = 16
LONGEST = 1500
"""Variables, up to which the level's own curvature is asked where that of the set is poor."""


@dataclass(frozen=True)
class Held:
    """Rows of length one whose kinks hold the point: |E e| <= Q / margin + missed."""

    E: Matrix
    margin: float
    missed: float


def settled(level: Level, chart: Chart, lam: Ext | None) -> tuple[Polished, Held | None] | None:
    """The stationary point on the chart, and on the surface of kinks with multipliers lam; None where it is none."""
    if level.kinks is None or lam is None:
        return polish(level, chart), None
    surface = level.kinks.surface(chart.point(chart.start), lam)
    if not np.linalg.norm(double(surface.E), axis=1).all():  # functions that differ by a constant
        return None
    polished = polish(level.tilted(surface.slope), chart, surface.E, surface.t, surface.w)
    priced = level.kinks.priced(surface, polished.w)
    if priced is None:
        return None
    polished = replace(polished, here=level.at(polished.x, priced), priced=priced)
    if not surface.t.size:
        return polished, None
    E = double(surface.E)
    lengths = np.linalg.norm(E, axis=1)
    used = double(priced[np.append(surface.first[level.kinks.owner[surface.others]], surface.others)])
    missed = np.abs(double(product(surface.E, polished.x) - surface.t)) / lengths
    missed = missed + product_units(level.dim) * (1 + length(double(polished.x)))
    margin = float(used.min() * lengths.min()) / np.sqrt(lengths.size) * (1 - 1e-12)
    return polished, Held(E / lengths[:, None], margin, length(missed) * (1 + 1e-12))


@dataclass(frozen=True)
class Distance:
    """All minimisers are within ``far`` of the point x of the chart, and ``unique`` says that there is one only.

    ``gap`` is at least g(x) - g* for that x, which may lie beside Z by rounding, or more.
    """

    polished: Polished
    far: float
    gap: float
    unique: bool

    @property
    def sharp(self) -> bool:
        """Whether the least value is known as well as that at the point."""
        return self.gap <= self.polished.here.value_error + UNIT_ROUNDOFF * abs(float(self.polished.here.value))


def distance(level: Level, polished: Polished, diameter: float, held: Held | None = None) -> Distance | None:
    """How far all minimisers of the level over Z are from the polished point; None where nothing is shown."""
    x = double(polished.x)
    here = polished.here
    growth = polished.chart.growth(polished.u, here.grad, here.grad_error)
    if growth is None or not np.isfinite(growth.residual):
        return None
    steep = level.steepness(x, growth.shift)
    # the theorem is about the point of Z that is ``shift`` away, and about its slope there
    residual = (growth.residual + steep * growth.shift) * (1 + 1e-12)
    lost = here.deficit + (0.0 if level.kinks is None else 2 * level.kinks.steepest * growth.shift)
    if growth.bend is not None and growth.bend.size > LONGEST:
        B, inexact = np.zeros((0, x.size)), 0.0
    else:
        B, inexact = level.roots(x, (residual * diameter + lost) * (1 + 1e-12))
    size, weight, sigma, strongly = 0.0, 0.0, np.inf, False
    if growth.bend is not None and held is not None and not growth.bend.min() > 0:
        growth = replace(growth, bend=None, face=np.eye(x.size))
    if growth.face is None:
        assert growth.bend is not None
        least = _least_curvature(growth, B, inexact)
        if not least > 0 and growth.power is None:
            return None
        far = diameter if growth.power is None else _by_powers(growth, residual, lost, diameter)
        if least > 0:
            far = min(far, (residual + np.sqrt(residual**2 + 4 * least * lost)) / (2 * least))
        strongly = not growth.bend.any()  # then the level is strongly convex by itself
    else:
        size = _norm(B)
        weight = size or 1.0
        sigma = _sigma(growth, B, weight, held) - inexact - (size + weight) * growth.face_error
        if not sigma > 0:
            return None
        kink, missed, along = (0.0, 0.0, 0.0) if held is None else (1 / held.margin, held.missed, weight)
        alpha = growth.root + (1 + (size + along * _norm_of(held)) * growth.root) / sigma
        beta = growth.linear * (1 + (size + weight + along * _norm_of(held)) / sigma) + along * kink / sigma
        beside = along * (missed + _norm_of(held) * growth.shift) / sigma
        if not beta * residual < 0.5:
            return None
        left = 1 - beta * residual
        root = residual * alpha + np.sqrt((residual * alpha) ** 2 + 4 * left * (lost + residual * beside))
        root /= 2 * left  # at least the square root of Q, by the quadratic inequality for it
        far = alpha * root + beta * root**2 + beside
    # slopes at minimisers are so near that none is zero, and that their faces are hardly tilted
    moved = level.steepness(x, far + growth.shift) * (far + growth.shift) * (1 + 1e-12) + here.grad_error
    unique = strongly or (moved <= growth.steady and sigma >= (size + weight) * growth.tilt * moved)
    unique = unique and (level.kinks is None or strongly)  # beyond kinks slopes jump
    far = min(far * (1 + 1e-12), diameter)
    # the first is about the point of Z, whose g may be less
    gap = residual * far * (1 + 1e-12) + lost + level.fall(here, growth.shift)
    return Distance(polished, far + growth.shift, gap * (1 + 1e-12), bool(unique))


def _least_curvature(growth: Growth, B: Matrix, inexact: float) -> float:
    """At most the least eigenvalue of B'B + diag(bend)."""
    assert growth.bend is not None
    least = float(growth.bend.min())
    even = least > 0.01 * float(growth.bend.max())
    if growth.bend.size > LONGEST or (even and B.shape[0] < B.shape[1]):
        return least
    if even and 1e3 * least > float(np.vdot(B, B)) / B.shape[1]:
        return least
    if not growth.bend.any() and B.shape[0] < B.shape[1]:
        return 0.0
    stacked = np.vstack([B, np.diag(np.sqrt(growth.bend))])
    values = np.linalg.svd(stacked, compute_uv=False)
    sigma = values[-1] - SVD_UNITS * max(stacked.shape) * UNIT_ROUNDOFF * values[0] - inexact
    return max(least, float(sigma) ** 2 * (1 - 1e-12)) if sigma > 0 else least


def _norm(B: Matrix) -> float:
    if not B.size:
        return 0.0
    if min(B.shape) > LONGEST:
        return float(np.linalg.norm(B)) * (1 + 1e-12)
    gram = B @ B.T if B.shape[0] <= B.shape[1] else B.T @ B
    largest = float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))
    return largest * (1 + SVD_UNITS * int(sum(B.shape)) * UNIT_ROUNDOFF)


def _by_powers(growth: Growth, residual: float, lost: float, diameter: float) -> float:
    """A bound by bend_i e_i^2 where that is more than nothing, and by kappa |e_i|^p elsewhere: from a bound on |e| the
    next one, until it does not shrink."""
    assert growth.power is not None
    assert growth.bend is not None
    p, kappa, flat = growth.power
    least = float(growth.bend[~flat].min(initial=np.inf))
    far, count = diameter, max(int(flat.sum()), 1)
    for _ in range(200):
        Q = residual * far + lost
        curved = (Q / kappa) ** (1 / p) * count ** max(0.5 - 1 / p, 0.0)
        closer = float(np.hypot(np.sqrt(Q / least), curved)) * (1 + 1e-12)
        if not closer < 0.999 * far:
            break
        far = closer
    return far


def _norm_of(held: Held | None) -> float:
    return 0.0 if held is None else float(np.linalg.norm(held.E)) * (1 + 1e-12)


def _sigma(growth: Growth, B: Matrix, weight: float, held: Held | None) -> float:
    """At most the least singular value of B on the face, with the trace of what moves along it, and rows of kinks."""
    assert growth.face is not None
    if not growth.face.shape[1]:
        return np.inf
    trace = np.zeros((0, growth.face.shape[1])) if growth.trace is None else growth.trace
    rows = np.zeros((0, growth.face.shape[0])) if held is None else held.E
    stacked = np.vstack([B @ growth.face, weight * trace, weight * (rows @ growth.face)])
    if stacked.shape[0] < stacked.shape[1]:
        return 0.0
    values = np.linalg.svd(stacked, compute_uv=False)
    rounding = SVD_UNITS * float(sum(B.shape) + trace.size + rows.shape[0]) * UNIT_ROUNDOFF * float(values[0])
    return float(values[-1]) - rounding
