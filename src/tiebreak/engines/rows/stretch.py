"""How far a minimiser can be by a gradient, where second derivatives may fall on the way.

Where |h'''| <= M h'' (Bach 2010), second derivatives fall along a step d by no more than exp(-M |a_i d|),
and |a_i d| is at most some multiple of |d|_H, the norm of the second derivatives themselves: M times the largest of
these multiples is the ``steepness`` K. Quadratics have none.

References
----------
F. Bach, Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4 (2010).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

HALVINGS = 40


class Stretch(NamedTuple):
    """H falls along a step d by no more than exp(-steepness |d|_H), as long as |d|_H is below ``limit``."""

    steepness: float
    limit: float

    def length(self, linear: float, constant: float) -> float:
        """The largest |d|_H with <rise of the gradient along d, d> <= linear |d|_H + constant; inf where there is none.

        The gradient rises by at least |d|_H (1 - exp(-K |d|_H))/K, K the steepness, so that (this - linear) |d|_H is at
        most the constant: true up to some length, and not beyond.
        """
        K = self.steepness
        if K == 0:
            found = linear + float(np.sqrt(constant))
        elif not K * linear < 1 - 1e-9:
            found = np.inf
        elif constant == 0:
            found = -float(np.log1p(-K * linear)) / K
        else:
            found = self._root(linear, constant)
        return found if found < self.limit else np.inf

    def _root(self, linear: float, constant: float) -> float:
        """Where both sides are equal, rounded up."""
        high = max(linear + float(np.sqrt(constant)), 1e-300)
        while self._possible(high, linear, constant):
            high *= 2
            if not high < 1e300:
                return np.inf
        low = 0.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if self._possible(middle, linear, constant):
                low = middle
            else:
                high = middle
        return high * (1 + 1e-9)

    def _possible(self, length: float, linear: float, constant: float) -> bool:
        K = self.steepness
        return float(-np.expm1(-K * length)) / K - linear <= constant / length


RIGID = Stretch(0.0, np.inf)
