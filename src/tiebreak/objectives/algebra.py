"""Sums and positive multiples of objectives, and functions of the first variables only."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, as_positive
from .base import Image, Objective
from .form import Form, with_columns
from .norms import Norm, Zero
from .piecewise import Piecewise
from .predictions import Predictions

if TYPE_CHECKING:
    from .covariance import FairRows

NOWHERE: NDArray[np.intp] = np.zeros(0, dtype=np.intp)


class Sum(Objective):
    """The sum of objectives; ``f + g`` makes one. Sums of sums are flattened.

    Parameters
    ----------
    *terms : Objective
        At least one.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.SquaredNorm() + tb.Linear([1.0, 1.0])
    >>> f.value([1.0, 2.0]), f.dim, f.quadratic
    (5.5, 2, True)

    A norm in a sum is kept apart from what is smooth:

    >>> f = tb.SquaredNorm() + tb.L1Norm(0.5)
    >>> f.differentiable, f.smooth_part.value([1.0, 2.0]), len(f.norms)
    (False, 2.5, 1)
    """

    def __init__(self, *terms: Objective) -> None:
        flat: list[Objective] = []
        for term in terms:
            flat.extend(term.terms if isinstance(term, Sum) else [term])
        dims = {term.dim for term in flat} - {None}
        if not flat or len(dims) > 1:
            raise ValueError(f"the terms of a sum must have one dimension, got {sorted(d for d in dims if d)}")
        self.terms: tuple[Objective, ...] = tuple(flat)
        self.dim = next(iter(dims), None)
        self.convex = all(term.convex for term in flat)
        self.differentiable = all(term.differentiable for term in flat)
        self.norms = tuple(norm for term in flat for norm in term.norms)
        self.pieces = tuple(piece for term in flat for piece in term.pieces)
        self.quadratic = all(term.quadratic for term in flat)
        self.lower_bound = sum(term.lower_bound for term in flat)
        self.claims = "; ".join(term.claims for term in flat if term.claims)

    @cached_property
    def smooth_part(self) -> Objective:
        """The sum of the terms that are neither norms nor pieces."""
        if self.differentiable:
            return self
        smooth = [term.smooth_part for term in self.terms if not isinstance(term, (Norm, Piecewise))]
        if len(smooth) == 1:
            return smooth[0]
        return Sum(*smooth) if smooth else Zero(self.dim)

    @cached_property
    def form(self) -> Form | None:
        """The sum of those of the terms; None if one has none."""
        forms = [term.form for term in self.terms]
        known = [form for form in forms if form is not None]
        return Form.total(known) if len(known) == len(forms) else None

    @property
    def parts(self) -> tuple[tuple[float, Objective], ...]:
        return tuple(part for term in self.terms for part in term.parts)

    def _negative(self) -> Objective:
        return Sum(*(-term for term in self.terms))

    @cached_property
    def smoothness(self) -> float | None:
        """The sum of those of the terms; None if one is unknown."""
        parts = [term.smoothness for term in self.terms]
        return None if None in parts else float(sum(part for part in parts if part is not None))

    def value(self, x: Vector) -> float:
        return sum(term.value(x) for term in self.terms)

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value_and_grad_at(x, self.image(x))

    def image(self, x: Vector) -> Image:
        return tuple(term.image(x) for term in self.terms)

    def value_at(self, x: Vector, image: Image) -> float:
        return sum(term.value_at(x, part) for term, part in zip(self.terms, image, strict=True))

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        pairs = [term.value_and_grad_at(x, part) for term, part in zip(self.terms, image, strict=True)]
        return sum(value for value, _ in pairs), np.sum([grad for _, grad in pairs], axis=0)

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        if not self.quadratic:
            return None
        parts = [term.curvature_along(direction, part) for term, part in zip(self.terms, image, strict=True)]
        return sum(part for part in parts if part is not None)

    def curvature_within(self, x: Vector, radius: float) -> float | None:
        parts = [term.curvature_within(x, radius) for term in self.terms]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        parts = [term.hessian_times(x, direction) for term in self.terms]
        known = [part for part in parts if part is not None]
        return np.sum(known, axis=0) if len(known) == len(parts) else None

    def rounding(self, x: Vector) -> tuple[float, float]:
        value_error = grad_error = 0.0
        unit = len(self.terms) * UNIT_ROUNDOFF
        for term in self.terms:
            value, grad = term.value_and_grad(x)
            term_value_error, term_grad_error = term.rounding(x)
            value_error += term_value_error + unit * abs(value)
            grad_error += term_grad_error + unit * float(np.linalg.norm(grad))
        return 1.01 * value_error, 1.01 * grad_error


class Multiple(Objective):
    """A positive multiple of an objective; ``factor * f`` makes one.

    Parameters
    ----------
    factor : float
        Positive.
    inner : Objective
        What is multiplied.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = 3 * tb.SquaredNorm()
    >>> f.value([1.0, 1.0]), f.smoothness
    (3.0, 3.0)
    """

    def __init__(self, factor: float, inner: Objective) -> None:
        self.factor = as_positive(factor, "factor")
        if isinstance(inner, Multiple):
            self.factor, inner = self.factor * inner.factor, inner.inner
        self.inner: Objective = inner
        self.dim = inner.dim
        self.convex = inner.convex
        self.differentiable = inner.differentiable
        self.norms = tuple(norm.scaled(self.factor) for norm in inner.norms)
        self.pieces = tuple(piece.scaled(self.factor) for piece in inner.pieces)
        self.quadratic = inner.quadratic
        self.lower_bound = self.factor * inner.lower_bound
        self.claims = inner.claims

    @cached_property
    def smooth_part(self) -> Objective:
        """The same multiple of that of the objective."""
        return self if self.differentiable else Multiple(self.factor, self.inner.smooth_part)

    @cached_property
    def form(self) -> Form | None:
        """That of the objective, times the factor."""
        inner = self.inner.form
        return None if inner is None else inner.scaled(self.factor)

    @property
    def parts(self) -> tuple[tuple[float, Objective], ...]:
        return tuple((self.factor * factor, term) for factor, term in self.inner.parts)

    def _negative(self) -> Objective:
        return Multiple(self.factor, -self.inner)

    @property
    def smoothness(self) -> float | None:
        """That of the objective, times the factor."""
        inner = self.inner.smoothness
        return None if inner is None else self.factor * inner

    def value(self, x: Vector) -> float:
        return self.factor * self.inner.value(x)

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value_and_grad_at(x, self.image(x))

    def image(self, x: Vector) -> Image:
        return self.inner.image(x)

    def value_at(self, x: Vector, image: Image) -> float:
        return self.factor * self.inner.value_at(x, image)

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        value, grad = self.inner.value_and_grad_at(x, image)
        return self.factor * value, self.factor * grad

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        inner = self.inner.curvature_along(direction, image)
        return None if inner is None else self.factor * inner

    def curvature_within(self, x: Vector, radius: float) -> float | None:
        inner = self.inner.curvature_within(x, radius)
        return None if inner is None else self.factor * inner

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        inner = self.inner.hessian_times(x, direction)
        return None if inner is None else self.factor * inner

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        part = linear_minimum / self.factor
        bound = self.factor * self.inner.scaled_dual_bound(x, part - 2 * UNIT_ROUNDOFF * abs(part))
        return bound - 2 * UNIT_ROUNDOFF * abs(bound)

    def rounding(self, x: Vector) -> tuple[float, float]:
        value, grad = self.inner.value_and_grad(x)
        value_error, grad_error = self.inner.rounding(x)
        unit = 1.01 * UNIT_ROUNDOFF
        return (
            self.factor * (1.01 * value_error + unit * abs(value)),
            self.factor * (1.01 * grad_error + unit * float(np.linalg.norm(grad))),
        )


class Widened(Objective):
    """The same function of the first of more variables, less others at some places.

    Parameters
    ----------
    inner : Objective
        Differentiable.
    dim : int
        The number of its variables.
    more : int
        How many follow.
    parted : array, optional
        The places of variables that are differences: the first ones that follow are taken away there. On the others
        it does not depend.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> Widened(tb.SquaredNorm(), 2, 1).grad([3.0, 4.0, 5.0]).tolist()
    [3.0, 4.0, 0.0]
    >>> Widened(tb.SquaredNorm(), 2, 1, np.array([1])).grad([3.0, 4.0, 5.0]).tolist()
    [3.0, -1.0, 1.0]
    """

    def __init__(self, inner: Objective, dim: int, more: int, parted: NDArray[np.intp] = NOWHERE) -> None:
        self.inner, self._first, self._parted, self.dim = inner, dim, parted, dim + more
        self.convex, self.quadratic = inner.convex, inner.quadratic
        self.lower_bound, self.claims = inner.lower_bound, inner.claims

    @cached_property
    def form(self) -> Form | None:
        """That of the objective, with data for all variables."""
        inner = self.inner.form
        return None if inner is None else inner.widened(self._first, self._more, self._parted)

    @property
    def smoothness(self) -> float | None:
        """That of the objective, twice where there are differences."""
        own = self.inner.smoothness
        return own if own is None or not self._parted.size else 2 * own

    @property
    def predictions(self) -> Predictions | None:
        inner = self.inner.predictions
        if inner is None or inner.data.kind == "operator":
            return None
        return inner._replace(data=with_columns(inner.data, self._first, self._more, self._parted))

    @property
    def narrow(self) -> Objective:
        return self.inner

    def fair_rows(self, lower: Objective) -> FairRows | None:
        return self.inner.fair_rows(lower.narrow)

    @property
    def _more(self) -> int:
        return (self.dim or 0) - self._first

    def _inner(self, x: Vector) -> Vector:
        """What the objective is asked about."""
        if not self._parted.size:
            return x[: self._first]
        own = x[: self._first].copy()
        own[self._parted] -= x[self._first : self._first + self._parted.size]
        return own

    def value(self, x: Vector) -> float:
        return self.inner.value(self._inner(self._point(x)))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        value, grad = self.inner.value_and_grad(self._inner(x))
        return value, np.concatenate([grad, -grad[self._parted], np.zeros(self._more - self._parted.size)])

    def image(self, x: Vector) -> Image:
        return self.inner.image(self._inner(x))

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        return self.inner.curvature_along(self._inner(direction), image)

    def rounding(self, x: Vector) -> tuple[float, float]:
        return self.inner.rounding(self._inner(x))
