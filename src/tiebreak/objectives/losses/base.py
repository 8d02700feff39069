"""What a loss is: a function h of the predictions t = Ax, with all that methods, engines and bounds ask about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.extended import Ext
from ..matrix import gamma

LINK_UNITS = 32  # units of roundoff lost in one entry of h or h': two functions like exp of 4 ulp, and some products
TINY = float(np.finfo(np.float64).tiny)


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

    def curvature_times(self, t: Vector, d: Vector) -> Vector | None:
        """h''(t) d; None where it is not known."""
        return None

    def bend(self, t: Vector, radius: float) -> float:
        """The largest entry of D that is needed within this distance of t."""
        return float(np.max(self.most))

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        """Bounds on the errors of ``value_and_slope`` at t, the second in Euclidean norm."""
        return gamma(t.size + LINK_UNITS) * value, LINK_UNITS * UNIT_ROUNDOFF * length(slope)


class Terms(NamedTuple):
    """What a loss is added up from, row by row: values, slopes, and the sizes of what those are sums of themselves.

    Each value and slope is off by at most ``LINK_UNITS`` units of the roundoff of its own precision, times its size.
    """

    value: Ext
    slope: Ext
    value_size: Ext
    slope_size: Ext


class Loss(Link):
    """A convex h that is a sum over the rows: a frozen dataclass of its data.

    A subclass supplies ``value_and_slope`` and ``curvature``, and says what it knows: ``most``, ``self_concordance``,
    ``lower_bound``, ``strictly_convex``, ``conjugate``. Bounds on the curvature near a point follow from ``most`` or
    from ``self_concordance``; a subclass that knows better ones overrides ``bend`` and ``near``, one whose terms cancel
    overrides ``sizes``. See :class:`tiebreak.LossOf`, which makes an objective of it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> @dataclass(frozen=True, eq=False)
    ... class Quartic(tb.Loss):
    ...     b: np.ndarray
    ...     row_data = ("b",)
    ...     lower_bound = 0.0
    ...
    ...     def value_and_slope(self, t):
    ...         return float(np.sum((t - self.b) ** 4)), 4 * (t - self.b) ** 3
    ...
    ...     def curvature(self, t):
    ...         return 12 * (t - self.b) ** 2
    >>> tb.LossOf(Quartic(np.array([1.0])), [[1.0, 1.0]]).value([1.0, 2.0])
    16.0
    """

    most: Vector | float = np.inf
    lower_bound: float = -np.inf
    quadratic: ClassVar[bool] = False
    """Whether h is 1/2 sum_i w_i (t_i - target_i)^2."""
    target: Vector | None
    weights: Vector | None
    row_data: ClassVar[tuple[str, ...]] = ()
    """The fields with an entry a row."""
    strictly_convex: bool = False
    separable: ClassVar[bool] = True
    """Whether h'' is diagonal; where it is not, ``curvature`` has its diagonal, and ``curvature_times`` all of it."""
    self_concordance: float = np.inf
    """M with |h'''| <= M h'', entry by entry, wherever h'' does not jump (see ``room``); inf where none is known.

    Of a loss that is not separable: M with |D^3 h(t)[d, d, e]| <= M range(e) D^2 h(t)[d, d], see ``Softmax``; where
    it has groups of rows, with the largest entry of a group for the range.
    """
    by_terms: ClassVar[bool] = False
    """Whether ``terms`` is there."""

    @property
    def name(self) -> str:
        """That of the objective."""
        return type(self).__name__.removesuffix("Loss")

    @abstractmethod
    def curvature(self, t: Vector) -> Vector:
        """The diagonal of h''(t); where that jumps, the larger of both sides."""

    def curvature_times(self, t: Vector, d: Vector) -> Vector:
        """h''(t) d."""
        return self.curvature(t) * d

    def room(self, t: Vector) -> Vector:
        """How far each t_i may move before h'' jumps; inf where it is continuous."""
        return np.full(t.size, np.inf)

    @property
    def group(self) -> int:
        """So many rows after another belong together: where one moves, the second derivatives of all may change."""
        return 1

    @property
    def uncoupled(self) -> tuple[Matrix, Loss] | None:
        """S, and a loss with groups whose value at S t is h(t): for a loss that is not separable; None without one."""
        return None

    def least_of_group(self, t: Vector) -> Vector:
        """Row by row c with c max_j d_j^2 <= <d, h'' d> for all steps d of the row's group."""
        return self.curvature(t)

    def terms(self, t: Ext) -> Terms:
        """Values and slopes row by row, in the precision of t."""
        raise NotImplementedError(f"{self.name} has no terms: it must say so by ``by_terms``")

    def flat_ends(self, t: Vector) -> tuple[Vector, Vector]:
        """The ends of the piece of h on which each t_i lies, where h is linear there; -inf and inf elsewhere."""
        return np.full(t.size, -np.inf), np.full(t.size, np.inf)

    @property
    def typical(self) -> float:
        """The size of predictions that matter: where the loss is far from its asymptotes."""
        return 1.0

    @property
    def far_slopes(self) -> tuple[Vector | float, Vector | float]:
        """What the slope of each h_i tends to far below and far above; -inf and inf where that is not known."""
        return -np.inf, np.inf

    def conjugate(self, u: Vector) -> float:
        """The supremum of <u, t> - h(t) over t, or a larger number; inf where there is none, or none is known."""
        return np.inf

    def bend(self, t: Vector, radius: float) -> float:
        most = float(np.max(self.most))
        M = self.self_concordance
        if np.isfinite(most) or not np.isfinite(M):
            return most
        with np.errstate(over="ignore"):
            return float(np.max(self.curvature(t), initial=0.0) * np.exp(M * radius)) * (1 + LINK_UNITS * UNIT_ROUNDOFF)

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        """Bounds on h'' between t and every t' with h(t') <= h(t) + <h'(t), t' - t> + gap."""
        M, most = self.self_concordance, np.broadcast_to(self.most, (t.size,))
        if M == 0 and self.separable:  # up to a jump the curvature is the same, and beyond one the gap is larger
            here, room = self.curvature(t), self.room(t)
            kept = max(gap, 0.0) < here * np.minimum(room, np.finfo(np.float64).max ** 0.25) ** 2 / 2
            return np.where(kept, here * (1 - LINK_UNITS * UNIT_ROUNDOFF), 0.0), most
        if not (0 < M < np.inf and self.separable):
            return np.zeros(t.size), most
        # h(t + s) - h(t) - h'(t) s >= h''(t) (e^-v + v - 1) / M^2 with v = M |s|, row by row; and e^-v + v - 1 is at
        # least v^2 / 3 for v <= 1 and at least v - 1 anywhere.
        here = self.curvature(t)
        with np.errstate(over="ignore"):  # where next to nothing bends, steps may be infinite
            ratio = M * M * max(gap, 0.0) / np.maximum(here, TINY)
            v = np.where(ratio <= 1 / 3, np.sqrt(3 * ratio), ratio + 1)
        return here * np.exp(-v), np.minimum(here * np.exp(np.minimum(v, 700.0)), most)

    def sizes(self, t: Vector) -> tuple[float, Vector] | None:
        """The sums of the absolute values of what is added up to h(t) and h'(t); None where nothing cancels."""
        return None

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        return super().rounding(t, *(self.sizes(t) or (abs(value), slope)))

    def rows(self, index: NDArray[np.intp]) -> Self:
        """The loss of some rows."""
        own: Any = self
        given = {name: getattr(self, name) for name in self.row_data}
        return replace(own, **{name: data[index] for name, data in given.items() if data is not None})  # type: ignore[no-any-return]
