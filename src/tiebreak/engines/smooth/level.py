"""One level of a chain with losses that are not squares, evaluated in extended precision with its rounding.

Before its point is known, such a level only has values and gradients. ``settle`` gives it a point: from then on it has
second derivatives too, those of the squares that have the same ones there, and rows P that all minimisers agree on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import UNIT, Ext, ExtMatrix, column_squares, dense, double, ext, is_sparse, sum_units, total
from ...numerics.passes import chosen, row_lengths, weighted_gram
from ...numerics.rank import EPS
from ...objectives.form import Form, Term
from ...objectives.losses.base import LINK_UNITS
from ..rows.level import DENSE, Evaluation, Level, Pull, Square, stack
from ..rows.refuses import LEAST
from ..rows.stretch import Stretch
from .curves import Curve, Settled, most_nearby, room_nearby, rounded
from .images import Images
from .recent import Recent

MANY = 20_000
"""With more entries, products are taken in extended precision only where they decide something."""
WELL = 1e-6
"""A Gram matrix is factorised where the squares of its pivots are no smaller, its diagonal being 1."""
SATURATED = 1e-6
"""Rows with less curvature than this, relative to the largest, pass on the rounding of their slopes as it is."""


@dataclass
class SmoothLevel(Level):
    """sum of losses, squares and bends + <q, x> + constant."""

    curves: list[Curve] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    _images: Images | None = None
    _factors: list[Square] | None = None
    _gram: bool = False
    _recent: Recent = field(default_factory=Recent)

    @classmethod
    def of(cls, form: Form | None, dim: int, length: float = 1.0, sizes: Vector | None = None) -> Level:
        """The form of an objective that ``why_not_smooth`` has passed; where all losses are squares, a plain level."""
        if form is not None and form.quadratic:
            return Level.of(form, dim, length, sizes)
        return super().of(form, dim, length, sizes)

    # -- making it ---------------------------------------------------------------------------------------------

    def _add(self, term: Term) -> None:
        loss, data, scale = term
        if loss.quadratic:
            super()._add(term)
            return
        if data is None:
            F: Matrix = sp.eye_array(self.dim, format="csr") if self.dim > DENSE else np.eye(self.dim)
        else:
            F = sp.csr_array(data.raw) if is_sparse(data.raw) else data.raw
            F = dense(F) if self.dim <= DENSE else F
        if loss.uncoupled is not None:
            S, loss = loss.uncoupled
            F = S @ F
        counted = np.flatnonzero(np.broadcast_to(loss.most, (F.shape[0],)) > 0)
        if counted.size < F.shape[0]:
            F, loss = F[counted], loss.rows(counted)
        F = F if self.length == 1 else F * self.length
        self.curves.append(Curve(ExtMatrix(F), loss, scale / np.longdouble(self.length) ** 2))

    def _divide(self, unit: float) -> None:
        super()._divide(unit)
        self.curves = [curve._replace(scale=curve.scale / unit) for curve in self.curves]

    def _size(self, sizes: Vector) -> float:
        """By the values at zero, as those of losses at far points say nothing."""
        size = super()._size(sizes)
        for F, loss, scale in self.curves:
            size += float(scale) * float(np.sum(double(loss.terms(ext(np.zeros(F.shape[0]))).value_size)))
        return size

    # -- what it is --------------------------------------------------------------------------------------------

    @property
    def linear(self) -> bool:
        return super().linear and not self.curves

    @property
    def quadratic(self) -> bool:
        return False

    @property
    def looks_at(self) -> Matrix:
        """All predictions, too: a loss that is straight at a point may bend elsewhere."""
        return stack([self.rows, *(curve.F.A for curve in self.curves)], self.dim)

    def at(self, x: Ext) -> Evaluation:
        value, _, value_error, grad_error = super().at(x)
        grad = self.grad(x)
        for F, loss, scale in self.curves:
            t, lost = self.predicted(F, x), rounded(loss, F.times_error(x))
            terms, bend, by = loss.terms(t), most_nearby(loss, double(t), lost), float(scale)
            value = value + scale * total(terms.value)
            off = LINK_UNITS * UNIT * double(terms.slope_size) + bend * lost
            slope = np.abs(double(terms.slope))
            own = LINK_UNITS * UNIT * float(terms.value_size.sum()) + float((slope + off) @ lost)
            own += (sum_units(t.size) + 4) * UNIT * float(np.abs(terms.value).sum())
            value_error += by * own * (1 + 1e-12)
            off = by * (off + 2 * UNIT * slope)
            grad_error = grad_error + F.transpose_times_error(scale * terms.slope) + np.asarray(F.size.T @ off)
            grad_error = grad_error + 2 * UNIT * np.abs(double(grad))
        return Evaluation(value, grad, value_error + 4 * UNIT * abs(float(value)), grad_error)

    def grad(self, x: Ext) -> Ext:
        def fresh() -> Ext:
            grad = super(SmoothLevel, self).grad(x)
            for F, loss, scale in self.curves:
                grad = grad + F.transpose_times(scale * loss.terms(self.predicted(F, x)).slope)
            return grad

        return self._recent.get("gradient", x, fresh)

    def rough_grad(self, x: Ext) -> Vector:
        grad, at = double(super().grad(x)), double(x)
        for F, loss, scale in self.curves:
            grad = grad + float(scale) * np.asarray(F.A.T @ loss.value_and_slope(np.asarray(F.A @ at))[1])
        return grad

    def predicted(self, F: ExtMatrix, x: Ext) -> Ext:
        """F x."""
        return self._recent.get(id(F), x, lambda: F.times(x))

    def pulls(self, x: Ext) -> list[Pull]:
        found = super().pulls(x)
        for (F, loss, scale), there in zip(self.curves, self.settled, strict=True):
            t, lost = self.predicted(F, x), rounded(loss, F.times_error(x))
            terms = loss.terms(t)
            bend = float(scale) * most_nearby(loss, double(t), lost)
            own = float(scale) * (LINK_UNITS + 2) * UNIT * double(terms.slope_size)
            off = own + bend * lost
            bent = there.curvature > SATURATED * there.curvature.max(initial=0.0)
            image = float(np.linalg.norm(off[bent] / np.sqrt(there.curvature[bent])))
            found.append(Pull(F, scale * terms.slope, image, np.asarray(F.size.T @ np.where(bent, 0.0, off))))
        return found

    def bend(self, x: Ext, moves: Vector) -> float:
        square = super().bend(x, moves)
        for F, loss, scale in self.curves:
            by = np.asarray(F.size @ moves)
            t = double(self.predicted(F, x))
            most = most_nearby(loss, t, by + F.times_error(x) + 1e-15 * np.abs(t))
            square += float(scale) * float(np.where(by > 0, most, 0.0) @ by**2)
        return square * (1 + 1e-12)

    def moved(self, moves: Vector) -> float:
        """A bound on M |a_i d| over all rows, for all d whose entries are no larger than ``moves``."""
        sizes = [c.loss.self_concordance * float((c.F.size @ moves).max(initial=0.0)) for c in self.curves]
        return max(sizes, default=0.0)

    def grad_size(self, x: Ext, scale: Vector) -> float:
        size = np.zeros(self.dim)
        for F, loss, by in self.curves:
            size = size + float(by) * np.asarray(F.size.T @ np.abs(double(loss.terms(self.predicted(F, x)).slope)))
        return max(super().grad_size(x, scale), float((size * scale).max(initial=0.0)))

    # -- at its point ------------------------------------------------------------------------------------------

    def settle(self, x: Ext) -> None:
        """Make x the point whose second derivatives are meant from now on."""
        self.settled, self._images, self._factors, self._gram = [], None, None, False
        self.__dict__.pop("diagonal", None)
        for F, loss, scale in self.curves:
            t = double(self.predicted(F, x))
            curvature, least = (float(scale) * np.asarray(bend(t)) for bend in (loss.curvature, loss.least_of_group))
            if loss.self_concordance > 0:  # it bends everywhere: where that underflows it has not ended
                curvature, least = np.maximum(curvature, LEAST), np.maximum(least, LEAST)
            bent = curvature > 0
            self.settled.append(Settled(t, curvature, least, np.flatnonzero(bent), np.flatnonzero(~bent)))

    @property
    def second_order(self) -> list[Square]:
        """By triangular factors where there are many rows: rounded, where ``hessian_times`` is not."""
        if self._factors is None:
            self._factors = []
            for (F, _, _), there in zip(self.curves, self.settled, strict=False):
                factor = triangular(F.A, there.curvature) if F.shape[0] > 2 * F.shape[1] else None
                if factor is None:
                    self._factors.append(Square(F, None, ext(there.curvature)))
                else:
                    self._factors.append(Square(ExtMatrix(factor[0]), None, np.longdouble(1)))
                    self._gram |= factor[1]
        return [*self.squares, *self._factors]

    @property
    def by_gram(self) -> bool:
        return super().by_gram or (bool(self.second_order) and self._gram)

    def hessian_times(self, d: Ext) -> Ext:
        image = self.products(self.squares, d)
        for (F, _, _), there in zip(self.curves, self.settled, strict=True):
            image = image + F.transpose_times(there.curvature * F.times(d))
        return image

    def hessian_product(self, d: Ext) -> tuple[Vector, float, Vector | float]:
        entries = sum(F.shape[0] * F.shape[1] for F, _, _ in self.curves)
        if entries <= MANY:
            return super().hessian_product(d)
        rest = self.products(self.squares, d)
        image, square, step = double(rest), float(d @ rest), double(d)
        lost = EPS * np.abs(image)
        for (F, _, _), there in zip(self.curves, self.settled, strict=True):
            t = np.asarray(F.A @ step)
            image = image + np.asarray(F.A.T @ (there.curvature * t))
            size = there.curvature * np.asarray(F.size @ np.abs(step))
            units = (F.shape[0] + F.shape[1] + 8) * EPS
            square += float(there.curvature @ t**2) + units * float(size @ np.abs(t)) * 3
            lost = lost + units * np.asarray(F.size.T @ size)
        return image, square, lost

    @property
    def steady(self) -> Matrix:
        pulling = []
        for (F, loss, _), there in zip(self.curves, self.settled, strict=False):
            slope = loss.terms(ext(there.t)).slope[there.straight]
            pulling.append(F.A[there.straight[slope != 0]])
        return stack([super().steady, *pulling], self.dim)

    def tails(self) -> list[tuple[Matrix, Vector, Vector, Vector]]:
        """The rows of losses that are straight at the point: with the ends of these pieces, and how far those are."""
        found = []
        for (F, loss, _), there in zip(self.curves, self.settled, strict=False):
            if there.straight.size:
                low, high = loss.flat_ends(there.t)
                at = there.straight
                found.append((F.A[at], low[at], high[at], room_nearby(loss, there.t)[at]))
        return found

    def stretch(self, columns: NDArray[np.intp], bent: Matrix, slack: float) -> Stretch:
        steepness, limit = 0.0, np.inf
        for (F, loss, _), there in zip(self.curves, self.settled, strict=True):
            M, room = loss.self_concordance, room_nearby(loss, there.t)[there.bent]
            if M == 0 and np.isinf(room).all():
                continue
            if slack >= 1:
                return Stretch(np.inf, 0.0)
            rows = chosen(F.A, there.bent, columns)
            sizes = np.sqrt(column_squares(rows.T, np.ones(columns.size)))
            kappa = row_lengths(rows, bent) + 1e-15 * (columns.size + 8) * sizes * np.linalg.norm(bent)
            kappa = kappa * (1 + 1e-9) / (1 - slack)
            steepness = max(steepness, M * float(kappa.max(initial=0.0)))
            moving = kappa > 0
            limit = min(limit, float((room[moving] / kappa[moving]).min(initial=np.inf)))
        return Stretch(steepness, limit)

    @property
    def tall(self) -> int:
        return int(self.images.rows.shape[0])

    # -- the rows that minimisers agree on -----------------------------------------------------------------------

    @property
    def images(self) -> Images:
        """Those rows: of all losses, or once the level is settled, of those that bend at its point."""
        if self._images is None:
            identity = np.eye(self.dim) if self.dim <= DENSE else sp.eye_array(self.dim, format="csr")
            blocks: list[tuple[Matrix, Vector, Vector]] = []
            for F, _, scale, _ in self.squares:
                rows = identity if F is None else F.A
                weights = np.broadcast_to(np.asarray(scale, dtype=np.float64), (rows.shape[0],))
                blocks.append((rows, weights, weights))
            if self.settled:
                for (F, _, _), there in zip(self.curves, self.settled, strict=True):
                    rows = chosen(F.A, there.bent, np.arange(self.dim))
                    blocks.append((rows, there.curvature[there.bent], there.least[there.bent]))
            else:
                ones = [np.ones(curve.F.shape[0]) for curve in self.curves]
                blocks += [(curve.F.A, one, one) for curve, one in zip(self.curves, ones, strict=True)]
            self._images = Images(blocks, self.bends, self.dim)
        return self._images

    @property
    def height(self) -> int:
        return int(self.images.kept.shape[0])

    @property
    def rows(self) -> Matrix:
        return self.images.kept

    @property
    def image(self) -> ExtMatrix:
        return self.images.P

    @property
    def image_size(self) -> float:
        return self.images.size

    def image_moves(self, fall: float) -> Vector | float:
        if not self.settled:  # on a single point, where nothing is asked of second derivatives
            return np.inf
        M, room = 0.0, np.inf
        for (_, loss, _), there in zip(self.curves, self.settled, strict=True):
            M = max(M, loss.self_concordance)
            room = min(room, float(room_nearby(loss, there.t)[there.bent].min(initial=np.inf)))
        return self.images.moves(fall, M, room)

    def dual_size(self, w: Ext) -> float:
        return self.images.dual_size(w)


def triangular(M: Matrix, weights: Vector) -> tuple[Matrix, bool] | None:
    """R with R'R = M' diag(weights) M, up to rounding of M, or of the product where that is well conditioned.

    The second is faster, and all that there is for sparse M: else None.
    """
    from scipy.linalg.lapack import dpotrf

    K = weighted_gram(M, weights)
    unit = np.sqrt(K.diagonal())
    if (unit > 0).all() and np.isfinite(unit).all():
        R, failed = dpotrf(K / unit / unit[:, None], clean=1)
        if not failed and float(np.square(R.diagonal()).min()) >= WELL:
            return np.asarray(R) * unit, True
    return None if is_sparse(M) else (np.linalg.qr(np.sqrt(weights)[:, None] * M, mode="r"), False)
