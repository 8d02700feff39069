"""What a user's functions and sets have answered in a run, and whether it fits together.

A user's word cannot be proved, but it can be caught: an answer that contradicts another one, or a claimed fact, raises
an :class:`OracleError` with the numbers. What no pair of answers contradicts stays an assumption of the certificate. A
few answers are kept, the first ones and the last ones, so that a check costs two small products.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NoReturn

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector
from .objectives import ConvexityError
from .objectives.base import Objective
from .sets.base import Domain
from .usercode import OracleError

KEPT = 6
"""So many of the first answers are kept, and of the last."""

MOST_ENTRIES = 100_000
"""Numbers kept at most; in large dimensions fewer answers are."""

NOISE = 1e-10
"""Values may be off by this, relative to the largest terms seen; what a bound may be off by is far less."""

SHARP = 1e-8
"""Points and linear minima may be off by this, relative to the largest point seen."""


class _Rows:
    """The first rows and the last, in one array."""

    def __init__(self, half: int, width: int = 1) -> None:
        self._half = half
        self._array = np.empty((2 * half, width))
        self.count = 0

    @property
    def array(self) -> Vector:
        return self._array[: min(self.count, 2 * self._half)]

    def add(self, row: Vector | float) -> None:
        late = self._half + (self.count - self._half) % self._half
        self._array[self.count if self.count < self._half else late] = row
        self.count += 1


def _half(dim: int) -> int:
    return max(1, min(KEPT, MOST_ENTRIES // (2 * dim)))


class ObjectiveWitness:
    """What was seen of one objective, called ``name`` in messages."""

    def __init__(self, name: str, objective: Objective, dim: int) -> None:
        self.name = name
        self._convex, self._lower_bound = objective.convex, objective.lower_bound
        self._smoothness = objective.smoothness
        half = _half(dim)
        self._points, self._grads = _Rows(half, dim), _Rows(half, dim)
        self._numbers = _Rows(half, 4)  # value, value - <grad, x>, |x|^2, |grad|^2
        self._answers: dict[bytes, tuple[float | None, Vector | None]] = {}
        self._size = self._declared = 0.0

    def saw(self, x: Vector, value: float, grad: Vector | None = None, error: float = 0.0) -> None:
        """Value and perhaps gradient at x, and by how much its class says that the value may be wrong."""
        self._declared = max(self._declared, error)
        x_square, grad_square = float(x @ x), 0.0 if grad is None else float(grad @ grad)
        self._size = max(self._size, abs(value) + sqrt(x_square * grad_square))
        self._compare(x, value, grad)
        allowed = (NOISE + 4 * (x.size + 8) * UNIT_ROUNDOFF) * self._size + 2 * self._declared
        if value < self._lower_bound - allowed:
            self._fail(f"its value {value:.9g} is below its lower_bound = {self._lower_bound:.9g}; correct lower_bound")
        if self._points.count and (self._convex or self._smoothness is not None):
            self._against(x, value, grad, x_square, grad_square, allowed)
        if grad is not None:
            self._points.add(x)
            self._grads.add(grad)
            self._numbers.add(np.array([value, value - float(grad @ x), x_square, grad_square]))

    def saw_grad(self, x: Vector, grad: Vector) -> None:
        """The gradient at x, without a value."""
        self._compare(x, None, grad)

    def _against(
        self, x: Vector, value: float, grad: Vector | None, x_square: float, grad_square: float, allowed: float
    ) -> None:
        """The value with the tangents at the points kept, and the other way round; the gradient with theirs."""
        values, offsets, x_squares, grad_squares = self._numbers.array.T
        gaps = value - (self._grads.array @ x + offsets)
        if self._convex and (worst := -float(gaps.min())) > allowed:
            self._not_convex(worst, value)
        if grad is not None and self._convex:
            deficits = value + (self._points.array @ grad - float(grad @ x)) - values
            at = int(deficits.argmax())
            if deficits[at] > allowed:
                self._not_convex(float(deficits[at]), float(values[at]))
        L = self._smoothness
        if L is None:
            return
        sizes = x_squares + x_square
        # squares of distances by their binomials: cheap, and what rounding does to them is allowed for
        apart = np.maximum(sizes - 2 * (self._points.array @ x), 0.0) + 4 * (x.size + 8) * UNIT_ROUNDOFF * sizes
        excess = np.abs(gaps) - 0.5 * L * (1 + 1e-6) * apart
        if (worst := float(excess.max())) > allowed:
            self._fail(
                f"its value is {worst:.3g} farther off its linear model at another point than smoothness = {L:.6g}"
                " allows; give a larger smoothness, or None, check grad, and compute value without noise"
            )
        if grad is None:
            return
        change = np.sqrt(np.maximum(grad_squares + grad_square - 2 * (self._grads.array @ grad), 0.0))
        most = L * (1 + 1e-6) * np.sqrt(apart) + 1e-6 * np.sqrt(grad_squares + grad_square)
        at = int((change - most).argmax())
        if change[at] > most[at]:
            self._fail(
                f"its gradient changes by {change[at]:.6g} between points at the distance {sqrt(apart[at]):.6g}, which"
                f" is more than smoothness = {L:.6g} allows; give a larger smoothness, or None"
            )

    def _compare(self, x: Vector, value: float | None, grad: Vector | None) -> None:
        """With what was answered at the same point."""
        key = x.tobytes()
        old_value, old_grad = self._answers.pop(key, (None, None))
        allowed = NOISE * self._size + 2 * self._declared
        if value is not None and old_value is not None and abs(value - old_value) > allowed:
            self._fail(
                f"its value at one point was {old_value:.12g} and then {value:.12g};"
                " it must not depend on anything but x"
            )
        if grad is not None and old_grad is not None:
            change, size = float(np.abs(grad - old_grad).max()), float(np.abs(old_grad).max())
            if not self._declared and change > 1e-8 * size + NOISE * self._size / (1 + float(np.linalg.norm(x))):
                self._fail(
                    f"two gradients at one point differ by {change:.3g}; a gradient must not depend on anything but x"
                )
        value, grad = old_value if value is None else value, old_grad if grad is None else grad
        self._answers[key] = value, grad if 4 * KEPT * x.size <= MOST_ENTRIES else None
        if len(self._answers) > 2 * KEPT:
            self._answers.pop(next(iter(self._answers)))

    def _not_convex(self, deficit: float, value: float) -> NoReturn:
        raise ConvexityError(
            f"{self.name}: it cannot be convex with the gradient it gives: its value {value:.9g} at one point lies"
            f" {deficit:.3g} below the tangent at another; check grad, compute value without noise and in double"
            " precision, or, for the upper level, pass convex=False"
        )

    def _fail(self, sentence: str) -> NoReturn:
        raise OracleError(f"{self.name}: {sentence}")


class DomainWitness:
    """What was seen of the domain."""

    def __init__(self, domain: Domain, dim: int) -> None:
        self._diameter = domain.diameter
        half = _half(dim)
        self._points, self._directions = _Rows(half, dim), _Rows(half, dim)
        self._squares, self._minima = _Rows(half), _Rows(half)
        self._reach = 0.0

    def saw_point(self, x: Vector, origin: str, loose: float = 0.0) -> None:
        """A point that is said to be in the set, up to ``loose``."""
        square = float(x @ x)
        self._reach = max(self._reach, sqrt(square))
        allowed = SHARP * self._reach + loose
        if self._directions.count:
            below = self._minima.array[:, 0] - self._directions.array @ x
            if (worst := float(below.max())) > allowed:
                raise OracleError(
                    f"domain: {origin} takes a point into the set that is {worst:.3g} farther in a direction than the"
                    f" point that lmo gives there; lmo is not a minimiser, or {origin} is wrong"
                )
        if self._points.count and self._diameter < inf:
            apart = float((self._squares.array[:, 0] - 2 * (self._points.array @ x)).max()) + square
            if sqrt(max(apart, 0.0)) > self._diameter * (1 + 1e-9) + allowed:
                raise OracleError(
                    f"domain: two of its points are {sqrt(apart):.6g} apart, but its diameter is said to be"
                    f" {self._diameter:.6g}; correct diameter"
                )
        self._points.add(x)
        self._squares.add(square)

    def saw_minimiser(self, c: Vector, s: Vector) -> None:
        """The answer s of ``lmo(c)``."""
        size = float(np.linalg.norm(c))
        self.saw_point(s, "lmo")
        if size == 0:
            return
        unit = c / size
        least = float(unit @ s)
        better = least - self._points.array @ unit
        if (worst := float(better.max())) > SHARP * self._reach:
            raise OracleError(
                f"domain: lmo(c) gives a point with <c, s> = {least * size:.9g}, but {(least - worst) * size:.9g} is"
                " what another point has that is said to be in the set; lmo is not a minimiser, or that point is not"
                " in the set (check contains and project)"
            )
        self._directions.add(unit)
        self._minima.add(least)

    def saw_projection(self, x: Vector, p: Vector) -> None:
        """The answer p of ``project(x)``: no known point of the set may lie on the side of x."""
        loose = 1e-10 * float(np.linalg.norm(x))
        self.saw_point(p, "project", 10 * SHARP * self._reach + loose)
        away = x - p
        size = float(np.linalg.norm(away))
        allowed = 10 * SHARP * self._reach + loose
        if size <= allowed:
            return
        nearer = (self._points.array @ away - float(p @ away)) / size
        if (worst := float(nearer.max())) > allowed:
            raise OracleError(
                f"domain: project(x) gives a point at the distance {size:.6g}, but a known point of the set lies"
                f" {worst:.3g} farther on the side of x: it is not the nearest point; check project"
            )
