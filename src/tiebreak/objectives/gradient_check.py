"""Tests of what a user's objective claims: its gradient, and its convexity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Vector, as_seed, as_vector
from ..usercode import OracleError
from .base import Objective

AGREEMENT = 1e-6  # a wrong gradient agrees this well by chance only
TOLERANCE = 1e-4  # what is forgiven where no step does
EXPONENTS = (-4, -3, -5, -6, -7, -8, -2, -1, 0, *range(-9, -25, -1))  # of the steps, the likeliest first
SINGLE = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)


class GradientError(OracleError):
    """The gradient of an objective is not the derivative of its value.

    Examples
    --------
    >>> import tiebreak as tb
    >>> try:
    ...     tb.check_gradient(tb.Function(lambda x: x @ x, lambda x: x, dim=2), [1.0, 2.0])
    ... except tb.GradientError as error:
    ...     print(isinstance(error, tb.OracleError))
    True
    """


class ConvexityError(OracleError):
    """An objective that claims to be convex lies below one of its tangents.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> wave = tb.Function(lambda x: float(np.sin(x[0])), np.cos, dim=1, convex=True)
    >>> try:
    ...     tb.solve(tb.Problem(tb.SquaredNorm(), wave, tb.Box([-9.0], [9.0])))
    ... except tb.ConvexityError as error:
    ...     print("convex" in str(error))
    True
    """


def check_gradient(
    objective: Objective,
    x: ArrayLike,
    direction: ArrayLike | None = None,
    seed: int = 0,
    name: str = "the objective",
) -> None:
    """Compare the gradient along one direction with central differences of the value.

    Parameters
    ----------
    objective : Objective
        What to check.
    x : array
        Where; the objective must be defined around it.
    direction : array, optional
        Along which direction; a random one by default.
    seed : int
        Seed of the random direction.
    name : str
        What messages call the objective.

    Raises
    ------
    GradientError
        With both numbers, if they disagree beyond what rounding and the curvature of the function explain.

    Notes
    -----
    Steps from 1 down to 1e-24, relative to 1 + ||x||, are tried until one agrees to 1e-6. If none does, the
    one with the smallest estimated error decides. That error is the rounding of the two values (single
    precision is recognised by its numbers), plus how far the difference contradicts those of shorter steps.
    At a kink any slope between those on either side will do.

    Examples
    --------
    >>> import tiebreak as tb
    >>> wrong = tb.Function(lambda x: float(x @ x), lambda x: x)  # the gradient is 2x
    >>> tb.check_gradient(wrong, [1.0, 2.0], direction=[1.0, 0.0])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tiebreak.objectives.gradient_check.GradientError: ...the slope 1 ... value give 2; check grad=
    """
    if not isinstance(objective, Objective):
        raise TypeError(f"objective must be an objective such as tiebreak.Function, got {type(objective).__name__}")
    point = as_vector(x, "x", objective.dim)
    if direction is None:
        along = np.random.default_rng(as_seed(seed)).standard_normal(point.size)
    else:
        along = as_vector(direction, "direction", point.size)
        if not along.any():
            raise ValueError("direction is zero; pass a nonzero vector")
    along = along / np.linalg.norm(along)
    gradient = objective.grad(point.copy())
    slope = float(gradient @ along)
    reach = 1.0 + float(np.linalg.norm(point))

    with np.errstate(all="ignore"):
        noise = objective.rounding(point.copy())[0]
        noise += 2 * UNIT_ROUNDOFF * float(np.linalg.norm(gradient) * np.linalg.norm(point))  # of x + h d itself
        line = _Line(objective, point, along, noise)
        for exponent in EXPONENTS:
            difference, error = line.difference(reach * 10.0**exponent)
            if abs(difference - slope) <= AGREEMENT * abs(slope) and error <= 1e-2 * abs(slope):
                return
        found, error = line.best()
        if np.isfinite(error) and line.has_kink(slope, found):
            return
        error += line.slope_error(slope)
    if not np.isfinite(error):
        raise GradientError(
            f"the gradient of {name} cannot be checked: its value is not finite around x; pass another x"
        )
    if abs(found - slope) > TOLERANCE * max(abs(found), abs(slope)) + 2 * error:
        raise GradientError(
            f"the gradient of {name} gives the slope {slope:.6g} along the test direction,"
            f" differences of the value give {found:.6g}; check grad="
        )


class _Line:
    """The values of a function along a line through x, the steps tried so far, and their errors."""

    def __init__(self, objective: Objective, x: Vector, along: Vector, noise: float) -> None:
        self._objective, self._x, self._along, self._noise = objective, x, along, noise
        self._size = float(np.linalg.norm(x))
        self._unit, self._lost = 1.0, 0.0
        self._centre = self._value(x)
        self._pairs: dict[float, tuple[float, float]] = {}

    def difference(self, step: float) -> tuple[float, float]:
        """The central difference with this step, and a bound on its rounding error."""
        above, below = self._value(self._x + step * self._along), self._value(self._x - step * self._along)
        self._pairs[step] = above, below
        return (above - below) / (2 * step), self._rounding(step)

    def best(self) -> tuple[float, float]:
        """The central difference with the smallest estimated error, and that error (inf if there is none)."""
        values = np.array([pair for pair in self._pairs.values() if np.isfinite(pair).all()])
        self._unit = SINGLE if (values == values.astype(np.float32)).all() else 1.0
        # Steps that are lost in rounding of x show what else is: sums of large terms that cancel, for example.
        lost = [step for step in self._pairs if step <= 64 * UNIT_ROUNDOFF * self._size]
        changes = [abs(value - self._centre) for step in lost for value in self._pairs[step]]
        self._lost = max((change for change in changes if np.isfinite(change)), default=0.0)
        best = (0.0, np.inf)
        shorter: list[tuple[float, float]] = []
        for step in sorted(self._pairs):
            above, below = self._pairs[step]
            difference, rounding = (above - below) / (2 * step), self._rounding(step)
            if not np.isfinite(difference):
                continue
            contradiction = max((abs(difference - d) - r for d, r in shorter), default=0.0)
            # What the next shorter step, with ten times the rounding error, cannot see may be there too.
            error = 11 * rounding + max(contradiction, 0.0)
            best = min(best, (difference, error), key=lambda pair: pair[1])
            shorter.append((difference, rounding))
        return best

    def has_kink(self, slope: float, found: float) -> bool:
        """Whether the slope lies between the slopes on either side, by the shortest steps that tell it from ``found``.

        Extrapolated to the step 0 both sides agree unless x is at a kink, where any slope between them will do.
        """
        resolved = sorted(step for step in self._pairs if 4 * self._rounding(step) <= abs(found - slope))
        if len(resolved) < 2 or not np.isfinite(self._centre):
            return False
        h, k = resolved[:2]
        sides = [(k * one - h * other) / (k - h) for one, other in zip(self._sides(h), self._sides(k), strict=True)]
        error = 2 * (k * self._rounding(h) + h * self._rounding(k)) / (k - h)
        return min(sides) - error <= slope <= max(sides) + error

    def _sides(self, step: float) -> tuple[float, float]:
        above, below = self._pairs[step]
        return (self._centre - below) / step, (above - self._centre) / step

    def _value(self, x: Vector) -> float:
        """f at x, NaN where it is not defined."""
        try:
            return self._objective.value(x)
        except (ArithmeticError, ValueError):  # math.exp overflows, math.log outside its domain
            return np.nan

    def _rounding(self, step: float) -> float:
        """A bound on the rounding error of a difference with this step."""
        above, below = self._pairs[step]
        size = self._noise + (self._x.size + 8) * UNIT_ROUNDOFF * max(abs(above), abs(below))
        lost = self._lost
        if np.isfinite(self._centre):  # x + h d is rounded, and the slope there may be another one than at x
            rise = abs(above - self._centre) + abs(below - self._centre)
            lost += 16 * self._x.size * UNIT_ROUNDOFF * self._size * rise / step
        return (lost + self._unit * size) / step

    def slope_error(self, slope: float) -> float:
        """How far the slope itself moves with the last digits of x: gradients are sums that may cancel, too."""
        shift = 4 * UNIT_ROUNDOFF * self._size * self._along
        slopes = [float(self._objective.grad(self._x + sign * shift) @ self._along) for sign in (1, -1)]
        return 4 * max(abs(other - slope) for other in slopes)


def check_convexity(objective: Objective, points: Sequence[ArrayLike], name: str = "the objective") -> None:
    """Check f(y) >= f(x) + <grad f(x), y - x> for all pairs of the points.

    Parameters
    ----------
    objective : Objective
        What to check.
    points : sequence of arrays
        A few points of the set on which the objective should be convex.
    name : str
        What messages call the objective.

    Raises
    ------
    ConvexityError
        If the inequality fails by more than rounding: by 1e-9 of its largest term, and by the bounds on the
        errors of its terms.

    Examples
    --------
    >>> import tiebreak as tb
    >>> concave = tb.Function(lambda x: -float(x @ x), lambda x: -2 * x, convex=True)
    >>> check_convexity(concave, [[0.0], [1.0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tiebreak.objectives.gradient_check.ConvexityError: the objective lies 1 below one of its tangents...
    """
    vectors = [as_vector(point, "points", objective.dim) for point in points]
    values, grads = zip(*(objective.value_and_grad(v) for v in vectors), strict=True)
    value_errors, grad_errors = zip(*(objective.rounding(v) for v in vectors), strict=True)
    for i, x in enumerate(vectors):
        for j, y in enumerate(vectors):
            step = y - x
            rise = float(grads[i] @ step)
            allowance = 1e-9 * max(abs(values[i]), abs(values[j]), abs(rise))
            allowance += value_errors[i] + value_errors[j] + grad_errors[i] * float(np.linalg.norm(step))
            allowance += 2 * (x.size + 8) * UNIT_ROUNDOFF * float(np.abs(grads[i]) @ (np.abs(x) + np.abs(y)))
            deficit = values[i] + rise - values[j]
            if deficit > allowance:
                raise ConvexityError(
                    f"{name} lies {deficit:.3g} below one of its tangents, so that it is not convex;"
                    " pass convex=False, or check value= and grad="
                )
