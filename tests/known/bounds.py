"""Reference values that owe nothing to tiebreak: sets with naive oracles, and two-sided bounds on a minimum.

A conic solver proposes a point and multipliers. The point is then made feasible, so that its value bounds the
minimum from above; the multipliers give a bound from below by weak duality and a naive support function. The
distance of the two is the error bar, whatever the solver said about itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np


class Inaccurate(Exception):
    """A reference solve that did not reach its accuracy; the instance is dropped and counted."""


@dataclass(frozen=True)
class ConvexSet:
    """A compact convex set, described four times: for a conic solver, and by naive formulas."""

    dim: int
    constraints: Callable[[cp.Expression], list]
    excess: Callable[[np.ndarray], float]  # convex, <= 0 exactly on the set (equations aside)
    minimum: Callable[[np.ndarray], float]  # min of <c, .>
    centre: np.ndarray  # relatively interior
    E: np.ndarray | None = None  # equations E x = e that hold on the set
    e: np.ndarray | None = None


@dataclass(frozen=True)
class Face:
    """The minimisers of <normal, .> over a set: base + lift z with z in inner (None: one point)."""

    normal: np.ndarray
    base: np.ndarray
    lift: np.ndarray
    inner: ConvexSet | None

    @property
    def centre(self) -> np.ndarray:
        return self.base if self.inner is None else self.base + self.lift @ self.inner.centre


@dataclass(frozen=True)
class Term:
    """A convex function: NumPy value and gradient, and the same for the conic solver."""

    value: Callable[[np.ndarray], float]
    grad: Callable[[np.ndarray], np.ndarray]
    expr: Callable[[cp.Expression], cp.Expression] | None
    at_most: Callable[[cp.Expression, float], tuple] | None = None
    """A constraint that says value <= level and suits the solver, and the multiplier of value <= level."""

    def level_set(self, x: cp.Expression, level: float) -> tuple:
        if self.at_most is not None:
            return self.at_most(x, level)
        constraint = self.expr(x) <= level
        return constraint, lambda: float(np.sum(constraint.dual_value))


@dataclass(frozen=True)
class Bounds:
    """lower <= the minimum <= upper, the latter attained at the feasible point x."""

    lower: float
    upper: float
    x: np.ndarray
    weight: float = 0.0  # the multiplier of g(x) <= level

    @property
    def mid(self) -> float:
        return (self.lower + self.upper) / 2

    def tol(self, rounding: float = 1e-12) -> float:
        return (self.upper - self.lower) / 2 + rounding * (1 + abs(self.mid))


@dataclass(frozen=True)
class Region:
    """The points of a face with B x = t and, if given, g(x) <= level; ``centre`` is relatively interior."""

    face: Face
    centre: np.ndarray
    B: np.ndarray
    t: np.ndarray
    lower: Term | None = None
    level: float = np.inf

    def minimise(self, f: Term, accuracy: float = 1e-7) -> Bounds:
        """Bounds on min f, no further apart than ``accuracy`` (1 + |min|)."""
        inner, lift = self.face.inner, self.face.lift
        if inner is None:
            value = f.value(self.face.base)
            return Bounds(value, value, self.face.base)
        z = cp.Variable(inner.dim)
        x = self.face.base + lift @ z
        equations = [self.B @ x == self.t] if self.B.size else []
        levels, weight_of = [], lambda: 0.0
        if self.lower is not None:
            constraint, weight_of = self.lower.level_set(x, self.level)
            levels = [constraint]
        problem = cp.Problem(cp.Minimize(f.expr(x)), inner.constraints(z) + equations + levels)
        _solve(problem)
        if z.value is None:
            raise Inaccurate(problem.status)
        y = equations[0].dual_value if equations else np.zeros(0)
        weight = max(0.0, weight_of())
        proposed = self.face.base + lift @ z.value
        point = self.face.base + lift @ self._feasible(z.value)
        low = max(self._dual_bound(f, p, y, weight) for p in (proposed, point))
        high = f.value(point)
        if weight > 0 and not high - low <= accuracy * (1 + abs(high)):
            # Once the inner minimum is accurate, an error in the multiplier costs the bound only its square.
            lagrangian = f.expr(x) + weight * self.lower.expr(x)
            _solve(cp.Problem(cp.Minimize(lagrangian), inner.constraints(z)))
            low = max(low, self._dual_bound(f, self.face.base + lift @ z.value, y, weight))
        if not high - low <= accuracy * (1 + abs(high)):
            raise Inaccurate(f"the bounds {low!r} and {high!r} are too far apart")
        return Bounds(min(low, high), high, point, weight)

    def _dual_bound(self, f: Term, p: np.ndarray, y: np.ndarray, weight: float) -> float:
        """Weak duality: for any p, y and weight >= 0, every x of the region has
        f(x) >= f(p) + <f'(p) + B'y + weight g'(p), x - p> - <y, t - B p> + weight (g(p) - level)."""
        slope, constant = f.grad(p) + self.B.T @ y, f.value(p) - float(y @ (self.t - self.B @ p))
        if weight > 0:
            slope = slope + weight * self.lower.grad(p)
            constant += weight * (self.lower.value(p) - self.level)
        return constant + float(slope @ (self.face.base - p)) + self.face.inner.minimum(self.face.lift.T @ slope)

    def _feasible(self, z: np.ndarray) -> np.ndarray:
        """A point of the region near z: onto the equations, then towards the centre as far as it takes."""
        inner, lift = self.face.inner, self.face.lift
        centre = np.linalg.lstsq(lift, self.centre - self.face.base, rcond=None)[0]
        rows = self.B @ lift if inner.E is None else np.vstack([self.B @ lift, inner.E])
        step = z - centre
        if rows.size:
            step = step - np.linalg.pinv(rows, rcond=1e-10) @ (rows @ step)
        for theta in (0.0, *np.logspace(-14, -7, 15)):
            point = centre + (1 - theta) * step
            inside = inner.excess(point) <= 0
            if inside and self.lower is not None:
                inside = self.lower.value(self.face.base + lift @ point) <= self.level
            if inside:
                return point
        raise Inaccurate("no feasible point near the proposed one")


def _solve(problem: cp.Problem) -> None:
    """As far as the solver gets; it is judged by the bounds that follow from its answer, not by its status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for accuracy in (1e-14, 1e-9):
            tight = {f"tol_{name}": accuracy for name in ("gap_abs", "gap_rel", "feas")}
            try:
                problem.solve(solver=cp.CLARABEL, max_iter=200, **tight)
                return
            except cp.SolverError:
                continue
    raise Inaccurate("the conic solver failed")


def whole(inner: ConvexSet) -> Face:
    """The set itself as the face of the zero functional."""
    return Face(np.zeros(inner.dim), np.zeros(inner.dim), np.eye(inner.dim), inner)
