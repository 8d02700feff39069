"""The weighted average of IR-CG and its stochastic kin: late iterates count more, and the last one the most.

With steps 2/(k+2) and a weight sigma_k of f that falls, f(x_k) - f* telescopes with the weights
w_k = k (k+1) (sigma_{k-1} - sigma_k) for 0 < k < t and w_t = t (t+1) sigma_{t-1} for the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Vector


@dataclass(frozen=True)
class LateAverage:
    """The sums of w_k x_k and of w_k over the iterates before the last one."""

    weighted: Vector
    weights: float = 0.0

    @classmethod
    def of_none(cls, x: Vector) -> LateAverage:
        """Before the first update."""
        return cls(np.zeros_like(x))

    def and_then(self, x: Vector, k: int, fall: float) -> LateAverage:
        """Also over x_k, after which the weight of f falls by ``fall``."""
        w = k * (k + 1) * fall
        return LateAverage(self.weighted + w * x, self.weights + w)

    def with_last(self, x: Vector, t: int, sigma: float) -> Vector:
        """The average over all iterates up to x = x_t, which was reached with the weight ``sigma`` of f."""
        last = t * (t + 1) * sigma
        average: Vector = (last * x + self.weighted) / (last + self.weights)
        return average
