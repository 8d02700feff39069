"""How far the minimisers of a level can be from a point: by the growth of the set and the curvature of the level.

For x in Z with slope c, n with x in argmin over Z of <n, .>, r = c - n, and any minimiser x*, e = x - x*:
    |B e|^2 + <n, x* - x> <= <c - c*, e> + <n, x* - x> <= <r, e> =: Q,
as <c*, x - x*> >= 0. So a growth |e| <= alpha sqrt(Q) + beta Q gives |e| <= alpha^2 |r| / (1 - beta |r|)^2: a bound
that is linear in the residual, though growth is quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Matrix
from ...numerics.extended import double
from ...sets.round.description import Growth
from .level import Level
from .polish import Polished

SVD_UNITS = 16
LONGEST = 1500
"""Variables, up to which the level's own curvature is asked where that of the set is poor."""


@dataclass(frozen=True)
class Distance:
    """All minimisers are within ``far`` of the point x of the chart, and ``unique`` says that there is one only.

    ``gap`` is at least g(x) - g* for that x, which may lie beside Z by rounding, or more.
    """

    polished: Polished
    far: float
    gap: float
    unique: bool


def distance(level: Level, polished: Polished, diameter: float) -> Distance | None:
    """How far all minimisers of the level over Z are from the polished point; None where nothing is shown."""
    x = double(polished.x)
    here = polished.here
    growth = polished.chart.growth(polished.u, here.grad, here.grad_error)
    if growth is None or not np.isfinite(growth.residual):
        return None
    steep = level.steepness(x, growth.shift)
    # the theorem is about the point of Z that is ``shift`` away, and about its slope there
    residual = (growth.residual + steep * growth.shift) * (1 + 1e-12)
    B, inexact = level.roots(x, residual * diameter * (1 + 1e-12))
    size, weight, sigma, strongly = 0.0, 0.0, np.inf, False
    if growth.face is None:
        least = _least_curvature(growth, B, inexact)
        if not least > 0:
            return None
        far = residual / least
        strongly = growth.bend is None or not growth.bend.any()  # then the level is strongly convex by itself
    else:
        size = _norm(B)
        weight = size or 1.0
        sigma = _sigma(growth, B, weight) - inexact - (size + weight) * growth.face_error
        if not sigma > 0:
            return None
        alpha = growth.root + (1 + size * growth.root) / sigma
        beta = growth.linear * (1 + (size + weight) / sigma)
        if not beta * residual < 0.5:
            return None
        far = alpha**2 * residual / (1 - beta * residual) ** 2
    # slopes at minimisers are so near that none is zero, and that their faces are hardly tilted
    moved = level.steepness(x, far + growth.shift) * (far + growth.shift) * (1 + 1e-12) + here.grad_error
    unique = strongly or (moved <= growth.steady and sigma >= (size + weight) * growth.tilt * moved)
    far = min(far * (1 + 1e-12), diameter)
    gap = residual * far * (1 + 1e-12) + level.fall(
        here, growth.shift
    )  # the first is about the point of Z, whose g may be less
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


def _sigma(growth: Growth, B: Matrix, weight: float) -> float:
    """At most the least singular value of B on the face, with the trace of what moves along it."""
    assert growth.face is not None
    if not growth.face.shape[1]:
        return np.inf
    trace = np.zeros((0, growth.face.shape[1])) if growth.trace is None else growth.trace
    stacked = np.vstack([B @ growth.face, weight * trace])
    if stacked.shape[0] < stacked.shape[1]:
        return 0.0
    values = np.linalg.svd(stacked, compute_uv=False)
    rounding = SVD_UNITS * float(sum(B.shape) + trace.size) * UNIT_ROUNDOFF * float(values[0])
    return float(values[-1]) - rounding
