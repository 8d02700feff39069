"""Poisson regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Vector, as_vector
from ...numerics.extended import Ext, ext
from ..base import Objective
from ..chunks import Chunks
from ..linked import Linked
from ..matrix import DataMatrix, gamma
from .base import LINK_UNITS, TINY, Loss, Terms
from .weights import as_shares


@dataclass(frozen=True, eq=False)
class PoissonLoss(Loss):
    """h(t) = sum_i w_i (exp(t_i) - y_i t_i), y_i >= 0; inf where exp overflows."""

    y: Vector
    weights: Vector

    row_data = ("y", "weights")
    self_concordance = 1.0
    by_terms = True

    @cached_property
    def strictly_convex(self) -> bool:  # type: ignore[override]
        """Where no weight is zero."""
        return bool((self.weights > 0).all())

    @cached_property
    def lower_bound(self) -> float:  # type: ignore[override]
        """sum_i w_i (y_i - y_i log y_i), at t = log y."""
        logs = self.y * np.log(np.where(self.y > 0, self.y, 1.0))
        least = float(self.weights @ (self.y - logs))
        return least - gamma(self.y.size + LINK_UNITS) * float(self.weights @ (self.y + np.abs(logs)))

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        rate = self._rate(t)
        return float(self.weights @ (rate - self.y * t)), self.weights * (rate - self.y)

    def curvature(self, t: Vector) -> Vector:
        return self.weights * self._rate(t)

    def terms(self, t: Ext) -> Terms:
        weights, y = ext(self.weights), ext(self.y)
        with np.errstate(over="ignore"):
            rate = np.exp(t)
        value, slope = weights * (rate - y * t), weights * (rate - y)
        return Terms(value, slope, weights * (rate + y * np.abs(t)), weights * (rate + y))

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        # h(t + s) - h(t) - h'(t) s = h''(t) (e^s - 1 - s), row by row. Where this is at most the gap, a step up has
        # s^2/2 <= gap / h'', so that h'' e^s <= h'' + gap + h'' s is as below; for a step down see ``Loss.near``.
        least, _ = super().near(t, gap)
        here, gap = np.maximum(self.curvature(t), TINY), max(gap, 0.0)
        most = here + gap + np.sqrt(2 * here) * math.sqrt(gap)
        return least, np.where(self.weights > 0, most, 0.0)

    def sizes(self, t: Vector) -> tuple[float, Vector]:
        rate = self._rate(t)
        return float(self.weights @ (rate + self.y * np.abs(t))), self.weights * (rate + self.y)

    @property
    def far_slopes(self) -> tuple[Vector, Vector]:
        return -self.weights * self.y, np.where(self.weights > 0, np.inf, 0.0)

    def conjugate(self, u: Vector) -> float:
        weighted = self.weights > 0
        rate = np.divide(u, self.weights, out=np.zeros(u.size), where=weighted) + self.y
        if (u[~weighted] != 0).any() or (rate < 0).any():
            return np.inf
        return float(self.weights @ (rate * np.log(np.where(rate > 0, rate, 1.0)) - rate))

    def _rate(self, t: Vector) -> Vector:
        """exp(t), but 0 in rows that do not count, where it might overflow."""
        with np.errstate(over="ignore"):
            return np.where(self.weights > 0, np.exp(t), 0.0)


class Poisson(Linked):
    """The mean Poisson loss sum_i w_i (exp(<a_i, x>) - y_i <a_i, x>), the weights w summing to 1.

    That is the negative log-likelihood of counts y_i with rates exp(<a_i, x>), without the constant log(y_i!).

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    y : array of length n
        The counts (or any numbers), not negative.
    weights : array of length n, optional
        Nonnegative, not all zero. Equal by default.

    Notes
    -----
    The gradient has no Lipschitz constant on the whole space, so ``smoothness`` is None. Where exp(<a_i, x>) is beyond
    double precision (<a_i, x> > 709) the value is inf.

    Examples
    --------
    >>> import math
    >>> import tiebreak as tb
    >>> f = tb.Poisson([[1.0], [1.0]], [1.0, 3.0])
    >>> f.value([0.0]), f.grad([0.0]).tolist()
    (1.0, [-1.0])
    >>> bool(abs(f.grad([math.log(2.0)])[0]) < 1e-12)  # at the logarithm of the mean count
    True
    """

    def __init__(self, A: Any, y: ArrayLike, weights: ArrayLike | None = None) -> None:
        data = DataMatrix(A, "A")
        n = data.shape[0]
        self.y, self.weights = as_vector(y, "y", n), as_shares(weights, n)
        if (self.y < 0).any():
            raise ValueError(f"y must not be negative: it holds counts, or rates, and has {self.y.min():g}")
        super().__init__(data, PoissonLoss(self.y, self.weights))

    @classmethod
    def on_chunks(cls, A: Chunks, y: Any, weights: Any = None) -> Objective:
        from ..chunked import ChunkedSum, Recipe

        recipe = Recipe(PoissonLoss, weighted=True)
        return ChunkedSum("Poisson", A, y, weights, recipe, mean=True, named="y", least=0.0)
