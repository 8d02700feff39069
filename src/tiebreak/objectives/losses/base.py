"""What a loss is: a function h of the predictions t = Ax, with all that methods, engines and bounds ask about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ..matrix import gamma

LINK_UNITS = 32  # units of roundoff lost in one entry of h or h': two functions like exp of 4 ulp, and some products


class Link(ABC):
    """A function h of t, convex or not.

    ``most`` are numbers D >= 0, one or one a row, with -diag(D) <= h'' <= diag(D) everywhere; inf where there are none.
    """

    most: Vector | float
    lower_bound: float = 0.0

    @abstractmethod
    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        """h(t) and h'(t)."""

    def value(self, t: Vector) -> float:
        """h(t)."""
        return self.value_and_slope(t)[0]

    def bend(self, t: Vector, radius: float) -> float:
        """The largest entry of D that is needed within this distance of t."""
        return float(np.max(self.most))

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        """Bounds on the errors of ``value_and_slope`` at t, the second in Euclidean norm."""
        return gamma(t.size + LINK_UNITS) * value, LINK_UNITS * UNIT_ROUNDOFF * length(slope)


class Loss(Link):
    """A convex h that is a sum over the rows: a frozen dataclass of its data.

    A subclass supplies ``value_and_slope``, ``curvature``, ``conjugate`` and ``most``; the rest where it can do better
    than the defaults, or where these do not hold: a loss with no bound on its curvature has its own ``bend`` and
    ``near``, one whose terms cancel its own ``sizes``.
    """

    quadratic: ClassVar[bool] = False
    """Whether h is 1/2 ||t - target||^2."""
    target: Vector | None
    row_data: ClassVar[tuple[str, ...]] = ()
    """The fields with an entry a row."""
    strictly_convex: bool = False

    @property
    def name(self) -> str:
        """That of the objective."""
        return type(self).__name__.removesuffix("Loss")

    @abstractmethod
    def curvature(self, t: Vector) -> Vector:
        """The diagonal of h''(t)."""

    @abstractmethod
    def conjugate(self, u: Vector) -> float:
        """The supremum of <u, t> - h(t) over t; inf where there is none."""

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        """Bounds on h'' between t and every t' with h(t') <= h(t) + <h'(t), t' - t> + gap."""
        return np.zeros(t.size), np.broadcast_to(self.most, (t.size,))

    def sizes(self, t: Vector) -> tuple[float, Vector] | None:
        """The sums of the absolute values of what is added up to h(t) and h'(t); None where nothing cancels."""
        return None

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        return super().rounding(t, *(self.sizes(t) or (value, slope)))

    def rows(self, index: NDArray[np.intp]) -> Self:
        """The loss of some rows."""
        own: Any = self
        return replace(own, **{name: getattr(self, name)[index] for name in self.row_data})  # type: ignore[no-any-return]
