"""A level in extended precision: value and slope with bounds on their rounding, and its curvature."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.extended import UNIT, Ext, ExtMatrix, between, dense, double, ext, sum_units, total
from ...objectives.form import Form, Term
from ...objectives.matrix import DataMatrix
from .kinks import Kinks

CURVATURE_UNITS = 64
"""Units of roundoff that the root of a quadratic, and a curvature, may be off by, beside its size."""


@dataclass(frozen=True)
class Local:
    """Value and slope at a point, and how far off each may be (the slope in norm).

    Nowhere is the level below the plane of the slope through the value less the ``deficit``, and near the point it
    rises by at most ``steep`` times the distance, but for curvature.
    """

    value: np.longdouble
    grad: Ext
    value_error: float
    grad_error: float
    steep: float
    deficit: float = 0.0

    @property
    def below(self) -> float:
        """A double that is at most the value."""
        return float(np.nextafter(float(self.value) - self.value_error * (1 + 1e-12), -np.inf))

    @property
    def above(self) -> float:
        """A double that is at least the value."""
        return float(np.nextafter(float(self.value) + self.value_error * (1 + 1e-12), np.inf))


class Level:
    """The sum of scale * h(F x) + scale * (1/2 x'Qx) + <p, x> + constant + kinks that a form is."""

    def __init__(self, form: Form, dim: int) -> None:
        self.dim = dim
        self.terms = [(term, None if term.data is None else ExtMatrix(term.data.raw)) for term in form.losses]
        form = replace(form, bends=tuple(bend for bend in form.bends if abs(bend.Q).max() or bend.q.any()))
        self.form = form
        self.bends = [(bend, ExtMatrix(bend.Q)) for bend in form.bends]
        self.p = np.zeros(dim, dtype=np.longdouble)
        self._p_error = 0.0
        for c, scale in form.linear:
            self.p += scale * ext(c)
            self._p_error += 4 * UNIT * abs(float(scale)) * length(c)
        self.quadratic = form.quadratic
        self.kinks = Kinks.of(form, dim)

    def tilted(self, slope: Ext) -> Level:
        """Without its kinks, for which the slope stands: for Newton's method, on a surface where they are linear."""
        smooth = copy(self)
        smooth.kinks, smooth.p = None, self.p + slope
        return smooth

    @property
    def smooth(self) -> Level:
        """Without its kinks."""
        return self if self.kinks is None else self.tilted(np.zeros(self.dim, dtype=np.longdouble))

    # -- value and slope ---------------------------------------------------------------------------------------

    def at(self, x: Ext, lam: Ext | None = None) -> Local:
        """Value and slope at x; that of kinks by multipliers, or by one of their functions that is largest."""
        size = length(double(x))
        value = self.form.constant + total(self.p * x)
        value_error = self._p_error * size + sum_units(self.dim) * UNIT * float(
            np.abs(double(self.p)) @ np.abs(double(x))
        )
        grad, grad_error = self.p.copy(), self._p_error
        sizes = abs(float(self.form.constant)) + abs(float(value))
        for term, data in self.terms:
            t, t_error = (x, np.zeros(x.size)) if data is None else (data.times(x), data.times_error(x))
            own, slope, own_error, slope_error = _loss_at(term, t, t_error)
            value, value_error, sizes = value + own, value_error + own_error, sizes + abs(float(own))
            if data is None:
                pulled, pulled_error = slope, slope_error
            else:
                pulled = data.transpose_times(slope)
                pulled_error = data.transpose_times_error(slope) + np.asarray(data.size.T @ slope_error)
            grad = grad + pulled
            grad_error += length(pulled_error)
        for bend, data in self.bends:
            image, image_error = data.times(x), data.times_error(x)
            own, scale = total(x * image) / 2, abs(float(bend.scale))
            value = value + bend.scale * own
            error = float(np.abs(double(x)) @ (image_error + sum_units(self.dim) * UNIT * np.abs(double(image))))
            value_error, sizes = value_error + scale * error, sizes + scale * abs(float(own))
            grad = grad + bend.scale * image
            grad_error += scale * (length(image_error) + 2 * UNIT * length(double(image)))
        steep, deficit = length(double(grad)) * (1 + 1e-12) + 1.01 * grad_error, 0.0
        if self.kinks is not None:
            extra, extra_error = self.kinks.value(x)
            value, value_error, sizes = value + extra, value_error + extra_error, sizes + abs(float(extra))
            support = self.kinks.support(x, self.kinks.simplest(x) if lam is None else lam)
            grad, grad_error, deficit = grad + support.slope, grad_error + support.error, support.deficit
            steep += self.kinks.steepest
        count = len(self.terms) + len(self.bends) + 4
        grad_error += count * UNIT * length(double(grad))
        errors = 1.01 * (value_error + count * UNIT * sizes), 1.01 * grad_error
        return Local(value, grad, *errors, steep * (1 + count * UNIT), deficit)

    # -- curvature ---------------------------------------------------------------------------------------------

    def hessian(self, x: Vector) -> Matrix:
        """The second derivative, dense: it steers, and proves nothing."""
        return self._constant_hessian if self.quadratic else self._hessian(x)

    def curvature_times(self, x: Vector, d: Vector) -> Vector:
        """The second derivative at x times d, with nothing stored; for separable losses."""
        found = np.zeros(self.dim)
        for loss, data, scale in self.form.losses:
            curvature = float(scale) * loss.curvature(x if data is None else data.times(x))
            found += curvature * d if data is None else data.transpose_times(curvature * data.times(d))
        for bend in self.form.bends:
            found += float(bend.scale) * np.asarray(bend.Q @ d)
        return found

    @cached_property
    def _constant_hessian(self) -> Matrix:
        return self._hessian(np.zeros(self.dim))

    def _hessian(self, x: Vector) -> Matrix:
        H = np.zeros((self.dim, self.dim))
        for loss, data, scale in self.form.losses:
            t = x if data is None else data.times(x)
            if not loss.separable:
                F = np.eye(self.dim) if data is None else dense(data.raw)
                H += float(scale) * F.T @ np.array([loss.curvature_times(t, column) for column in F.T]).T
            elif data is None:
                H[np.diag_indices(self.dim)] += float(scale) * loss.curvature(t)
            else:
                weighted = between(np.sqrt(float(scale) * loss.curvature(t)), data.raw, np.ones(self.dim))
                H += dense(weighted.T @ weighted)
        for bent in self.form.bends:
            H += float(bent.scale) * dense(bent.Q)
        return H

    @cached_property
    def images(self) -> Matrix:
        """The data of all losses and quadratics, one above the other: their images are the same at all minimisers."""
        blocks = [np.eye(self.dim) if data is None else dense(data.A) for _, data in self.terms]
        return np.vstack([np.zeros((0, self.dim)), *blocks, *(dense(data.A) for _, data in self.bends)])

    @cached_property
    def image_units(self) -> Vector:
        """Of a quadratic level, u with |w'K e| <= |u w| sqrt(e'He) for the ``images`` K and second derivatives H."""
        units = [np.zeros(0)]
        for loss, data, scale in self.form.losses:
            count = self.dim if data is None else data.shape[0]
            units.append(1 / np.sqrt(float(scale) * loss.most * np.ones(count)))
        units += [
            np.full(self.dim, np.sqrt(float(np.linalg.norm(dense(bend.Q))) / float(bend.scale)))
            for bend in self.form.bends
        ]
        return np.concatenate(units) * (1 + 1e-9)

    def roots(self, x: Vector, gap: float) -> tuple[Matrix, float]:
        """B with |B e|^2 <= <slope(x + e) - slope(x), e>, and a number by which |B e| / |e| may be too large.

        For the points whose value is above the linear model at x by at most ``gap``.
        """
        blocks, inexact = [np.zeros((0, self.dim))], 0.0
        for loss, data, scale in self.form.losses:
            least = loss.near(x if data is None else data.times(x), gap / float(scale))[0]
            root = np.sqrt(float(scale) * np.maximum(least, 0.0)) * (1 - CURVATURE_UNITS * UNIT_ROUNDOFF)
            blocks.append(np.diag(root) if data is None else root[:, None] * dense(data.raw))
            inexact += 4 * UNIT_ROUNDOFF * float(np.linalg.norm(blocks[-1]))
        for bend in self.form.bends:
            values, vectors = np.linalg.eigh(dense(bend.Q))
            error = CURVATURE_UNITS * self.dim * UNIT_ROUNDOFF * float(np.abs(values).max(initial=0.0))
            blocks.append(np.sqrt(float(bend.scale) * np.maximum(values, 0.0))[:, None] * vectors.T)
            inexact += float(np.sqrt(float(bend.scale) * error))
        return np.vstack(blocks), inexact

    def steepness(self, x: Vector, radius: float) -> float:
        """A Lipschitz constant of the slope within this distance of x."""
        found = 0.0
        for loss, data, scale in self.form.losses:
            size = 1.0 if data is None else _largest(data) * (1 + 1e-12)
            found += (
                float(scale) * loss.bend(x if data is None else data.times(x), size * radius * (1 + 1e-6)) * size**2
            )
        for bend in self.form.bends:
            found += float(bend.scale) * float(np.linalg.norm(dense(bend.Q))) * (1 + 1e-12)
        return found * (1 + 1e-12)

    def fall(self, here: Local, radius: float) -> float:
        """At least what the level can be lower within this distance."""
        return here.steep * radius * (1 + 1e-12)

    def rise(self, here: Local, x: Ext, radius: float) -> float:
        """At least what the level can be higher within this distance."""
        more = self.steepness(double(x), radius) * radius**2 / 2 if radius else 0.0
        return self.fall(here, radius) + more * (1 + 1e-12)


def _largest(data: DataMatrix) -> float:
    """At least the largest singular value: from the entries of each row and column where these are few."""
    frobenius = float(data.frobenius)
    if data.kind != "sparse":
        return frobenius
    sizes = abs(data.raw)
    by_sums = float(sizes.sum(axis=0).max(initial=0.0)) * float(sizes.sum(axis=1).max(initial=0.0))
    return min(frobenius, float(np.sqrt(by_sums)))


def _loss_at(term: Term, t: Ext, t_error: Vector) -> tuple[np.longdouble, Ext, float, Vector]:
    """scale * h(t) and its slope, with the errors that t and rounding bring."""
    scale, size = term.scale, abs(float(term.scale))
    if term.loss.quadratic:
        residual = t if term.loss.target is None else t - ext(term.loss.target)
        weights = np.ones(t.size) if term.loss.weights is None else term.loss.weights
        steep = np.abs(double(residual))
        off = t_error + 2 * UNIT * steep
        pulls = residual if term.loss.weights is None else ext(weights) * residual
        half = total(pulls * residual) / 2
        half_error = float((weights * steep) @ off) + float((weights * off) @ off) / 2
        half_error += (sum_units(t.size) + 2) * UNIT * float(half)
        return scale * half, scale * pulls, size * half_error, size * weights * (off + 4 * UNIT * steep)
    rounded = double(t)
    moved = t_error + UNIT_ROUNDOFF * np.abs(rounded)
    value, steep = term.loss.value_and_slope(rounded)
    value_error, steep_error = term.loss.rounding(rounded, value, steep)
    most = term.loss.bend(rounded, length(moved))
    error = value_error + float(np.abs(steep) @ moved) + most * float(moved @ moved) / 2
    # an error in norm is at most that much in each entry
    return scale * np.longdouble(value), scale * ext(steep), size * error, size * (steep_error + most * moved)
