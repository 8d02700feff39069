"""One level of a chain as a convex quadratic, evaluated in extended precision with its rounding."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import (
    UNIT,
    Ext,
    ExtMatrix,
    column_squares,
    dense,
    double,
    ext,
    is_sparse,
    sum_units,
    total,
)
from ...numerics.rows import power_of_two
from ...objectives.form import Form, Term
from .stretch import RIGID, Stretch

if TYPE_CHECKING:
    from .doubt import Doubt

DENSE = 100
"""Up to this many variables everything is dense: sparse matrices would cost more than the arithmetic."""


class Square(NamedTuple):
    """1/2 sum_i scale_i (F x - b)_i^2, one scale for all or one a row; without F, the identity; without b, zero.

    Scales are positive, and without F there is one.
    """

    F: ExtMatrix | None
    b: Vector | None
    scale: np.longdouble | Ext
    doubt: Doubt | None = None  # of data that are elsewhere

    @property
    def scales(self) -> Vector:
        """In double precision: a number, or one a row."""
        return np.asarray(self.scale, dtype=np.float64)

    @property
    def growth(self) -> float:
        """How many times larger the Hessian may be."""
        return 1.0 if self.doubt is None else 1 + self.doubt.share


class Bend(NamedTuple):
    """scale/2 x'Qx."""

    Q: ExtMatrix
    scale: np.longdouble


class Pull(NamedTuple):
    """F'factors, a part of a gradient, and what it may be off by: in the image, in |.|_H, and beside that."""

    F: ExtMatrix | None
    factors: Ext
    image_error: float
    error: Vector | float = 0.0


class Definite(NamedTuple):
    """No singular value of a root of the Hessian on these columns, each multiplied by its scale, is below ``least``."""

    columns: NDArray[np.intp]
    scale: Vector
    least: float


class Evaluation(NamedTuple):
    """Value and gradient in extended precision, with bounds on their rounding errors."""

    value: np.longdouble
    grad: Ext
    value_error: float
    grad_error: Vector


@dataclass
class Level:
    """sum of squares and bends + <q, x> + constant, in units where variables and values have size 1."""

    dim: int
    q: Ext
    length: float = 1.0  # the unit of the variables, a power of two
    unit: float = 1.0  # that of the values, likewise
    squares: list[Square] = field(default_factory=list)
    bends: list[Bend] = field(default_factory=list)
    constant: np.longdouble = field(default_factory=lambda: np.longdouble(0))
    lower_bound: float = -np.inf
    slopes: list[tuple[Vector, np.longdouble]] = field(default_factory=list)  # what q is the sum of, with factors
    rounded: bool = False  # whether it is not that to the last bit
    weighted: float = 0.0  # the strong convexity of weighted squares of the variables
    definite: list[Definite] = field(default_factory=list)  # on which columns the Hessian is, as far as that was asked

    @classmethod
    def of(cls, form: Form | None, dim: int, length: float = 1.0, sizes: Vector | None = None) -> Level:
        """The form of an objective that ``why_not_quadratic`` has passed, for variables in units of ``length``.

        Values come in units of what is added up to them at variables of these ``sizes``, 1 if not given.
        """
        assert form is not None
        level = cls(dim, ext(np.zeros(dim)), length, constant=form.constant / length**2)
        for term in form.losses:
            level._add(term)
        level.bends = [Bend(ExtMatrix(bend.Q), bend.scale) for bend in form.bends]
        for c, scale in form.linear:
            # another vector may round when it is added, or multiplied by anything but a power of two
            level.rounded |= bool(level.q.any()) or abs(float(np.frexp(scale)[0])) != 0.5
            level.q = level.q + scale * ext(c) / length
            level.slopes.append((c, scale / length))
        unit = float(power_of_two(np.array([level._size(np.ones(dim) if sizes is None else sizes)]))[0])
        level._divide(unit)
        level.unit = unit * length**2
        level.lower_bound = form.lower_bound / level.unit
        return level

    def _add(self, term: Term) -> None:
        """One more loss, a square."""
        loss, data, scale = term
        target = None if loss.target is None else loss.target / self.length
        F = None if data is None else ExtMatrix(data.raw)
        if loss.weights is None:
            doubt = getattr(loss, "doubt", None)
            self.squares.append(Square(F, target, scale, doubt and doubt.in_units(self.length)))
            return
        scales = scale * ext(loss.weights)
        self.weighted += float(scales.min()) if data is None else 0.0
        self.squares.append(Square(F or _identity(self.dim), target, scales))

    def _divide(self, unit: float) -> None:
        """Values in this unit."""
        self.q, self.constant = self.q / unit, self.constant / unit
        self.slopes = [(c, scale / unit) for c, scale in self.slopes]
        self.squares = [square._replace(scale=square.scale / unit) for square in self.squares]
        self.weighted /= unit
        self.bends = [bend._replace(scale=bend.scale / unit) for bend in self.bends]

    def _size(self, sizes: Vector) -> float:
        """What is added up to values of the second-order part at variables of these sizes; 0 without one."""
        total = 0.0
        for square in self.squares:
            image = sizes if square.F is None else np.asarray(square.F.size @ sizes)
            parts = image + (0.0 if square.b is None else np.abs(square.b))
            total += float(np.max(square.scales * parts**2, initial=0.0))
        for Q, scale in self.bends:
            total += float(scale) * float(np.max(sizes * (Q.size @ sizes), initial=0.0))
        return total

    @property
    def linear(self) -> bool:
        """Whether no second-order term is there."""
        return not self.squares and not self.bends

    @property
    def quadratic(self) -> bool:
        """Whether the second derivatives are the same everywhere."""
        return True

    @property
    def second_order(self) -> list[Square]:
        """Squares with the same second derivatives as the level at its point, but for the bends."""
        return self.squares

    @property
    def steady(self) -> Matrix:
        """Rows, as they are stored, whose combination is the part of the gradient that is the same everywhere."""
        high = double(self.q)
        rows = np.vstack([high, double(self.q - high)])
        return rows[rows.any(axis=1)]

    @cached_property
    def ridge(self) -> float:
        """The multiple of the identity in the Hessian: that of the squared distances."""
        return float(sum(square.scale for square in self.squares if square.F is None)) * (1 - 1e-15)

    @cached_property
    def strong_convexity(self) -> float:
        """mu > 0 where the level holds a squared distance, weighted or not; 0 where nothing is known."""
        return self.ridge + self.weighted * (1 - 1e-15)

    def at(self, x: Ext) -> Evaluation:
        """Value and gradient at x."""
        size = np.abs(double(x))
        terms = self.q * x
        units = sum_units(x.size) + 4
        value, grad = self.constant + total(terms), self.q.copy()
        value_error = units * UNIT * (float(np.abs(terms).sum()) + abs(float(self.constant)))
        grad_error = 4 * UNIT * np.abs(double(self.q))
        for F, b, scale, doubt in self.squares:
            image = x if F is None else F.times(x)
            residual = image if b is None else image - b
            lost = UNIT * np.abs(double(residual)) + (0.0 if F is None else F.times_error(x))
            slope, weight = scale * residual, np.asarray(scale, dtype=np.float64)
            part = slope if F is None else F.transpose_times(slope)
            half = total(slope * residual) / 2
            value, grad = value + half, grad + part
            units = sum_units(residual.size) + 6
            value_error += units * UNIT * float(half)
            value_error += float((weight * (np.abs(double(residual)) + lost / 2)) @ lost) * (1 + 1e-14)
            if doubt is not None:
                off, value_off = doubt.at(image)
                lost, value_error = lost + off, value_error + float(scale) * value_off
            lost = weight * (lost + 2 * UNIT * np.abs(double(residual)))  # scales and products are rounded as well
            spread = lost if F is None else F.transpose_times_error(slope) + np.asarray(F.size_transposed @ lost)
            grad_error = grad_error + spread + 2 * UNIT * np.abs(double(part))
        for Q, scale in self.bends:
            image, lost = Q.times(x), Q.times_error(x)
            products = x * image
            value, grad = value + scale * total(products) / 2, grad + scale * image
            units = sum_units(x.size) + 6
            value_error += float(scale) * (units * UNIT * float(np.abs(products).sum()) + float(lost @ size))
            grad_error = grad_error + float(scale) * (lost + 2 * UNIT * np.abs(double(image)))
        return Evaluation(value, grad, value_error + 4 * UNIT * abs(float(value)), grad_error)

    def grad(self, x: Ext) -> Ext:
        """The gradient alone."""
        grad = self.q
        for F, b, scale, _ in self.squares:
            slope = scale * ((x if F is None else F.times(x)) - (0 if b is None else b))
            grad = grad + (slope if F is None else F.transpose_times(slope))
        for Q, scale in self.bends:
            grad = grad + scale * Q.times(x)
        return grad

    def rough_grad(self, x: Ext) -> Vector:
        """The gradient in double precision, for what hangs on its size alone."""
        return double(self.grad(x))

    def pulls(self, x: Ext) -> list[Pull]:
        """What the gradient is added up from, but for bends and q."""
        found = []
        for F, b, scale, doubt in self.squares:
            image = x if F is None else F.times(x)
            residual = image if b is None else image - b
            lost = UNIT * np.abs(double(residual)) + (0.0 if F is None else F.times_error(x))
            lost = lost + 2 * UNIT * np.abs(double(residual))
            roots = np.sqrt(np.asarray(scale, dtype=np.float64))
            off = 0.0 if doubt is None else float(roots) * doubt.at(image)[0]
            found.append(Pull(F, scale * residual, float(np.linalg.norm(roots * lost)) + off))
        return found

    def stretch(self, columns: NDArray[np.intp], bent: Matrix, slack: float) -> Stretch:
        """How the level's Hessian H may change on the way to its minimisers.

        ``bent`` are steps of these columns that are orthonormal in |.|_H, so far as ``slack`` is below 1.
        """
        return RIGID

    def hessian_times(self, d: Ext) -> Ext:
        """H d."""
        return self.products(self.second_order, d)

    def hessian_product(self, d: Ext) -> tuple[Vector, float, Vector | float]:
        """H d rounded to double precision, <d, H d>, and a bound on the errors of the entries of H d beside that."""
        image = self.hessian_times(d)
        return double(image), float(d @ image), 0.0

    @property
    def by_gram(self) -> bool:
        """Whether ``root`` is taken of H itself, so that it is H's rounding that matters."""
        return bool(self.bends)

    def products(self, squares: list[Square], d: Ext) -> Ext:
        """H d for the Hessian of the squares and the bends."""
        image = ext(np.zeros(self.dim))
        for F, _, scale, _ in squares:
            image = image + (scale * d if F is None else F.transpose_times(scale * F.times(d)))
        for Q, scale in self.bends:
            image = image + scale * Q.times(d)
        return image

    def bend(self, x: Ext, moves: Vector) -> float:
        """A bound on <d, Hd> for all d whose entries are no larger than ``moves``, H the Hessian that near to x."""
        square = 0.0
        for one in self.squares:
            image = moves if one.F is None else one.F.size @ moves
            square += float((one.scales * image) @ image) * one.growth
        for Q, scale in self.bends:
            square += float(scale) * float(moves @ (Q.size @ moves))
        return square * (1 + 1e-12)

    @cached_property
    def diagonal(self) -> Vector:
        """That of H, rounded up."""
        entries = np.zeros(self.dim)
        for square in self.second_order:
            F, height = square.F, self.dim if square.F is None else square.F.shape[0]
            scales = np.broadcast_to(square.scales * square.growth, (height,))
            entries += scales if F is None else column_squares(F.A, scales)
        for Q, scale in self.bends:
            entries += float(scale) * np.abs(Q.A.diagonal())
        return entries * (1 + 1e-12)

    def grad_size(self, x: Ext, scale: Vector) -> float:
        """What a gradient near x must be compared with to be called zero, for variables of sizes ``scale``.

        The largest sum of the absolute values that cancel in it; where x and the targets are themselves nothing
        but rounding, what rounding of the variables' sizes makes of it.
        """
        at, size = np.abs(double(x)) + 1e-6 * scale, np.abs(double(self.q))
        for square in self.squares:
            F, b = square.F, square.b
            parts = square.scales * ((at if F is None else F.size @ at) + (0.0 if b is None else np.abs(b)))
            size = size + (parts if F is None else F.size_transposed @ parts)
        for Q, weight in self.bends:
            size = size + float(weight) * (Q.size @ at)
        return float((size * scale).max(initial=0.0)) or 1.0

    # -- the second-order part as rows: P d = 0 says that a step d does not change it -------------------------

    @property
    def height(self) -> int:
        """How many rows ``rows`` has."""
        return sum(self.dim if s.F is None else s.F.shape[0] for s in self.squares) + self.dim * len(self.bends)

    @cached_property
    def rows(self) -> Matrix:
        """P: the matrices of all second-order terms, stacked. All minimisers over a convex set have the same P x."""
        identity = np.eye(self.dim) if self.dim <= DENSE else sp.eye_array(self.dim, format="csr")
        blocks: list[Matrix] = [identity if s.F is None else s.F.A for s in self.squares]
        blocks += [bend.Q.A for bend in self.bends]
        return stack(blocks, self.dim)

    @property
    def looks_at(self) -> Matrix:
        """What the level knows of x but for its linear part: where this and q x are the same, so is the level."""
        return self.rows

    @cached_property
    def image(self) -> ExtMatrix:
        """P with products in extended precision."""
        only = self.squares[0].F if len(self.squares) == 1 and not self.bends else None
        return ExtMatrix(self.rows) if only is None else only

    def root(self, columns: NDArray[np.intp]) -> Matrix:
        """R with R'R the Hessian of these (few) columns."""
        identity = np.eye(columns.size)
        blocks: list[Matrix] = [
            np.sqrt(s.scales).reshape(-1, 1) * (identity if s.F is None else dense(s.F.A[:, columns]))
            for s in self.second_order
        ]
        for Q, scale in self.bends:
            part = dense(Q.A[columns][:, columns])
            sizes = np.sqrt(np.maximum(part.diagonal(), 0.0))  # zero: so is the whole column
            unit = power_of_two(sizes)  # so that rounding is small beside every column
            values, vectors = np.linalg.eigh(part / unit / unit[:, None])
            values = np.maximum(values, 0)  # below that is rounding
            blocks.append(np.sqrt(float(scale) * values)[:, None] * vectors.T * np.where(sizes > 0, unit, 0.0))
        return np.vstack(blocks) if blocks else np.zeros((0, columns.size))

    @property
    def tall(self) -> int:
        """How many rows ``root`` is made of."""
        return self.height

    @cached_property
    def image_size(self) -> float:
        """A factor with |P d| <= image_size * sqrt(<d, Hessian d>)."""
        square = sum(float(1 / s.scales.min(initial=np.inf)) for s in self.squares)
        square += sum(float(np.sqrt((bend.Q.size**2).sum())) / float(bend.scale) for bend in self.bends)
        return float(np.sqrt(square))

    def image_moves(self, fall: float) -> Vector | float:
        """Bounds on the entries of P d for steps d that make the level, less its linear model, rise by at most this."""
        return float(np.sqrt(2 * max(0.0, fall))) * self.image_size

    def dual_size(self, w: Ext) -> float:
        """The norm of w with |<w, P d>| <= dual_size(w) * sqrt(<d, Hessian d>)."""
        square, start = np.longdouble(0), 0
        for F, _, scale, _ in self.squares:
            size = self.dim if F is None else F.shape[0]
            square += total(w[start : start + size] ** 2 / scale)
            start += size
        for Q, scale in self.bends:
            part = w[start : start + self.dim]
            square += max(total(part * Q.times(part)), np.longdouble(0)) / scale
            start += self.dim
        return float(np.sqrt(square)) * (1 + 1e-15)


def _identity(dim: int) -> ExtMatrix:
    return ExtMatrix(np.eye(dim) if dim <= DENSE else sp.eye_array(dim, format="csr"))


def stack(blocks: list[Matrix], dim: int) -> Matrix:
    """The blocks on top of each other: dense if all are, else CSR."""
    blocks = [block for block in blocks if block.shape[0]]
    if not blocks:
        return np.zeros((0, dim))
    if len(blocks) == 1:
        return sp.csr_array(blocks[0]) if is_sparse(blocks[0]) else blocks[0]
    if not any(sp.issparse(block) for block in blocks):
        return np.vstack(blocks)
    return sp.csr_array(sp.vstack(blocks))
