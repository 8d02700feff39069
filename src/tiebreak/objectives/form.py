"""What engines and theories know of an objective: losses of linear maps, quadratics, a linear term, norms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .losses.base import Loss
from .matrix import DataMatrix

if TYPE_CHECKING:
    from .norms import Norm
    from .piecewise import Piecewise

Scale = np.longdouble
"""Factors are kept beside the data, and in extended precision: whoever multiplies decides what is rounded."""

ONE = Scale(1)


class Term(NamedTuple):
    """scale * h(F x), h a loss; without data, F is the identity."""

    loss: Loss
    data: DataMatrix | None = None
    scale: Scale = ONE


class Bend(NamedTuple):
    """scale * (1/2 x'Qx + <q, x>)."""

    Q: Matrix
    q: Vector
    convex: bool
    scale: Scale = ONE


class Slope(NamedTuple):
    """scale * <c, x>."""

    c: Vector
    scale: Scale = ONE


@dataclass(frozen=True, eq=False)
class Form:
    """f(x) = sum of scale * h(F x) + sum of scale * (1/2 x'Qx + <q, x>) + sum of scale * <c, x> + constant + norms
    + pieces.

    The data are those of the objective, as they are stored.

    Examples
    --------
    >>> import tiebreak as tb
    >>> form = (3 * tb.LeastSquares([[1.0, 2.0]], [1.0], scale=0.5) + tb.Linear([1.0, 0.0]) + tb.L1Norm()).form
    >>> [(term.loss.name, float(term.scale)) for term in form.losses], len(form.slopes), len(form.norms)
    ([('Square', 1.5)], 1, 1)
    >>> form.quadratic, form.strictly_convex, form.value([1.0, 1.0])
    (True, True, 6.0)
    """

    losses: tuple[Term, ...] = ()
    bends: tuple[Bend, ...] = ()
    slopes: tuple[Slope, ...] = ()
    constant: Scale = Scale(0)
    norms: tuple[Norm, ...] = ()
    pieces: tuple[Piecewise, ...] = ()

    @classmethod
    def of(cls, term: Term, scale: float = 1.0) -> Self:
        """One loss, times a factor."""
        return cls((term._replace(scale=term.scale * Scale(scale)),))

    @classmethod
    def total(cls, forms: Iterable[Form]) -> Form:
        """The sum of forms."""
        found = Form()
        for form in forms:
            found = found.plus(form)
        return found

    def plus(self, other: Form) -> Form:
        """The sum with another one."""
        return Form(
            self.losses + other.losses,
            self.bends + other.bends,
            self.slopes + other.slopes,
            self.constant + other.constant,
            self.norms + other.norms,
            self.pieces + other.pieces,
        )

    def scaled(self, factor: float) -> Form:
        """A positive multiple."""
        by = Scale(factor)
        return Form(
            tuple(term._replace(scale=by * term.scale) for term in self.losses),
            tuple(bend._replace(scale=by * bend.scale) for bend in self.bends),
            tuple(slope._replace(scale=by * slope.scale) for slope in self.slopes),
            by * self.constant,
            tuple(norm.scaled(factor) for norm in self.norms),
            tuple(piece.scaled(factor) for piece in self.pieces),
        )

    def widened(self, dim: int, more: int, parted: NDArray[np.intp]) -> Form:
        """The same function of z in ``dim + more`` variables: of the first ``dim``, less the next ones at the places
        ``parted``; not for norms and pieces."""
        assert not self.norms
        assert not self.pieces
        zeros = np.zeros(more - parted.size)
        return replace(
            self,
            losses=tuple(term._replace(data=with_columns(term.data, dim, more, parted)) for term in self.losses),
            bends=tuple(
                bend._replace(
                    Q=_columns(_columns(bend.Q, more, parted).T, more, parted),
                    q=np.concatenate([bend.q, -bend.q[parted], zeros]),
                )
                for bend in self.bends
            ),
            slopes=tuple(slope._replace(c=np.concatenate([slope.c, -slope.c[parted], zeros])) for slope in self.slopes),
        )

    # -- what may be asked of it -------------------------------------------------------------------------------

    @property
    def linear(self) -> tuple[Slope, ...]:
        """All that is linear: the slopes, with those of the quadratics."""
        return (*(Slope(bend.q, bend.scale) for bend in self.bends), *self.slopes)

    @property
    def convex(self) -> bool:
        """Whether it is: all but some Q are."""
        return all(bend.convex for bend in self.bends)

    @property
    def quadratic(self) -> bool:
        """Whether it is one but for the norms and pieces."""
        return all(term.loss.quadratic for term in self.losses)

    @property
    def strictly_convex(self) -> bool:
        """Whether all losses are, so that F x is the same for all minimisers."""
        return all(term.loss.strictly_convex for term in self.losses)

    @property
    def lower_bound(self) -> float:
        """A number below all values; -inf where none is known."""
        if self.bends or self.slopes:
            return -np.inf
        losses = sum((term.scale * term.loss.lower_bound for term in self.losses), self.constant)
        return float(losses) + sum(piece.lower_bound for piece in self.pieces)

    @property
    def matrices(self) -> bool:
        """Whether all data are matrices, none a LinearOperator."""
        return all(term.data is None or term.data.kind != "operator" for term in self.losses)

    def isotropic(self, dim: int) -> tuple[float, Vector] | None:
        """mu and c where it is mu/2 ||x||^2 - <c, x> up to a constant; None where it is not such a sum."""
        if self.norms or self.pieces or self.bends or not all(_unweighted(term) for term in self.losses):
            return None
        pulls = [float(term.scale) * term.loss.target for term in self.losses if term.loss.target is not None]
        pulls += [-float(slope.scale) * slope.c for slope in self.slopes]
        return sum((float(term.scale) for term in self.losses), 0.0), np.sum([np.zeros(dim), *pulls], axis=0)

    @property
    def strong_convexity(self) -> float:
        """mu such that mu/2 ||x||^2 can be taken away from it and leave it convex: by squares of x itself, weighted."""
        if not self.convex:
            return 0.0
        own = [term for term in self.losses if term.data is None and term.loss.quadratic]
        return float(sum(term.scale * np.min(term.loss.most) for term in own))

    def value(self, x: Vector) -> float:
        """The value at x."""
        x = np.asarray(x, dtype=np.float64)
        value = float(self.constant) + sum(part.value(x) for part in (*self.norms, *self.pieces))
        for loss, data, scale in self.losses:
            value += float(scale) * loss.value(x if data is None else data.times(x))
        for bend in self.bends:
            value += float(bend.scale) / 2 * float(x @ (bend.Q @ x))
        return value + sum(float(scale) * float(c @ x) for c, scale in self.linear)


def _unweighted(term: Term) -> bool:
    """Whether it is a multiple of 1/2 ||x - target||^2."""
    return term.data is None and term.loss.quadratic and term.loss.weights is None


def with_columns(data: DataMatrix | None, dim: int, more: int, parted: NDArray[np.intp]) -> DataMatrix:
    """The data for further variables: of those at the places ``parted`` the negative parts, and columns of zeros."""
    return DataMatrix.trusted(_columns(sp.eye_array(dim, format="csr") if data is None else data.raw, more, parted))


def _columns(A: Matrix, more: int, parted: NDArray[np.intp]) -> Matrix:
    """A with the negatives of some of its columns, and then zeros: sparse if A is, or if there are zeros."""
    zeros = more - parted.size
    if not zeros and not sp.issparse(A):
        return np.ascontiguousarray(np.hstack([A, -A[:, parted]]))
    A = sp.csr_array(A)
    return sp.csr_array(sp.hstack([A, -A[:, parted], sp.csr_array((A.shape[0], zeros))], format="csr"))
