"""What linear minimisation over Z shows of both levels, linearised at points of Z: bounds from below.

Notation as in ``bounds.py``. With every bound the floating-point error of what it is made of is given away.
"""

from __future__ import annotations

import numpy as np

from .arrays import UNIT_ROUNDOFF
from .composite import LinearMinimum
from .linearisation import Linearisation, dot_error, ulps
from .numerics.concave import maximise_concave
from .origin import Average
from .problem import Problem


class LinearBounds:
    """Lower bounds on both optimal values; norms stay as they are, only the smooth parts are linearised."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._minimum = LinearMinimum(problem)

    def on_lower(self, g: Linearisation) -> float:
        """At most g*: by a linearisation of the lower level, and with the dual point rescaled."""
        minimum = self._minimum.below(g.grad, g.grad_error, [(1.0, norm) for norm in g.norms])
        at_x = float(g.grad @ g.x)
        error = g.value_error + g.grad_error * float(np.linalg.norm(g.x)) + dot_error(g.grad, g.x)
        model = g.smooth - at_x + minimum - error - 4 * UNIT_ROUNDOFF * (abs(g.smooth) + abs(at_x) + abs(minimum))
        return model if g.norms else max(model, self.problem.lower.scaled_dual_bound(g.x, minimum))

    def on_average(self, average: Average, g: Linearisation) -> float:
        """At most g*, by an average of linearisations of the lower level, whose norms are those of g."""
        minimum = self._minimum.below(average.grad, average.grad_error, [(1.0, norm) for norm in g.norms])
        return average.constant + minimum - average.error - ulps(average.constant) - ulps(minimum)

    def on_upper(
        self, f: Linearisation, g: Linearisation, level: float, guesses: tuple[float, float]
    ) -> tuple[float, float]:
        """At most the least f where g is at most ``level``, and its multiplier: near that of the cut, or a guess.

        The first guess is a warm start.
        """
        if not np.isfinite(level):
            return self._lagrangian(f, g, 0.0, 0.0), 0.0
        warm, multiplier = guesses
        if f.norms or g.norms:
            return self._best_multiplier(f, g, guesses, level)
        cut = self.problem.domain.lmo_cut(f.grad, g.grad, float(g.grad @ g.x) + level - g.value, warm=warm)
        first = cut.multiplier if np.isfinite(cut.multiplier) else max(10 * warm, 1.0)
        best, best_at = -np.inf, 0.0
        for lam in dict.fromkeys((first, multiplier or first)):
            bound = self._lagrangian(f, g, lam, level)
            # Where rounding of the lower level, times lam, outweighs what lam is for, a smaller one is better.
            while lam * (g.value_error + g.grad_error) > UNIT_ROUNDOFF * (1 + abs(f.value)):
                smaller = self._lagrangian(f, g, 0.1 * lam, level)
                if not smaller > bound:
                    break
                lam, bound = 0.1 * lam, smaller
            if bound > best:
                best, best_at = bound, lam
        return best, best_at

    def _best_multiplier(
        self, f: Linearisation, g: Linearisation, guesses: tuple[float, float], level: float
    ) -> tuple[float, float]:
        """The best bound over all multipliers, by a search: it is concave in them, whatever the norms."""
        return maximise_concave(
            lambda lam: self._lagrangian(f, g, lam, level),
            list(guesses) if any(guesses) else [(1 + f.slope) / (1 + g.slope)],
            lambda best: max(0.1 * abs(f.value - best), 4 * UNIT_ROUNDOFF * abs(f.value)),
        )

    def _lagrangian(self, f: Linearisation, g: Linearisation, lam: float, level: float) -> float:
        slope = f.grad + lam * g.grad
        slope_error = f.grad_error + lam * g.grad_error + UNIT_ROUNDOFF * float(np.linalg.norm(slope)) * 2
        parts = [(1.0, norm) for norm in f.norms] + [(lam, norm) for norm in g.norms]
        minimum = self._minimum.below(slope, slope_error, parts)
        terms = (f.smooth, -float(f.grad @ f.x), lam * (g.smooth - level), -lam * float(g.grad @ g.x), minimum)
        error = (
            f.value_error
            + lam * g.value_error
            + f.grad_error * float(np.linalg.norm(f.x))
            + lam * g.grad_error * float(np.linalg.norm(g.x))
            + dot_error(f.grad, f.x)
            + lam * dot_error(g.grad, g.x)
            + 8 * UNIT_ROUNDOFF * sum(map(abs, terms))
            + 4 * UNIT_ROUNDOFF * lam * (abs(g.smooth) + abs(level))
        )
        return sum(terms) - error


def averaged(old: Average | None, g: Linearisation, weight: float) -> Average:
    """The average of linearisations with one more, as a function s -> constant + <grad, s>."""
    new = Average(
        constant=g.smooth - float(g.grad @ g.x),
        grad=g.grad,
        error=g.value_error + g.grad_error * float(np.linalg.norm(g.x)) + dot_error(g.grad, g.x),
        grad_error=g.grad_error,
    )
    if old is None:
        return new
    return Average(
        (1 - weight) * old.constant + weight * new.constant,
        (1 - weight) * old.grad + weight * new.grad,
        (1 - weight) * old.error + weight * new.error + ulps(old.constant) + ulps(new.constant),
        (1 - weight) * old.grad_error + weight * new.grad_error + ulps(float(np.linalg.norm(old.grad))),
    )
