"""Stand-ins for the parts of a problem that count oracle calls and stop at the first NaN or infinity."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Vector
from .objectives.base import Image, Objective
from .problem import Problem
from .sets.base import Cut, Domain


class NonFiniteError(ArithmeticError):
    """An oracle returned NaN or an infinity; ``oracle`` names it."""

    def __init__(self, oracle: str) -> None:
        super().__init__(f"the oracle {oracle} returned NaN or an infinity")
        self.oracle = oracle


def watched(problem: Problem, calls: Counter[str], prefix: str = "") -> Problem:
    """The same problem, its oracle calls counted in ``calls`` under names such as "upper.grad"."""
    return replace(
        problem,
        upper=_WatchedObjective(problem.upper, f"{prefix}upper", calls),
        lower=_WatchedObjective(problem.lower, f"{prefix}lower", calls),
        domain=_WatchedDomain(problem.domain, f"{prefix}domain", calls),
    )


class _Watched:
    def __init__(self, inner: Any, name: str, calls: Counter[str]) -> None:
        self._inner = inner
        self._name = name
        self._calls = calls

    @property
    def watched(self) -> Any:
        """What is watched, for code that works on its data; such code reports its calls by ``note_calls``."""
        return self._inner

    def note_calls(self, oracle: str, times: int) -> None:
        """Count calls that were made without this stand-in."""
        self._calls[f"{self._name}.{oracle}"] += times

    def _noted(self, oracle: str, *results: Any, share: float = 1) -> None:
        """Count a call, or the share of a pass over the data that it was, and stop at NaN and infinities."""
        name = f"{self._name}.{oracle}"
        self._calls[name] += share  # type: ignore[assignment]
        if not all(math.isfinite(r) if isinstance(r, float) else np.isfinite(r).all() for r in results):
            raise NonFiniteError(name)


class _WatchedObjective(_Watched, Objective):
    def __init__(self, inner: Objective, name: str, calls: Counter[str]) -> None:
        super().__init__(inner, name, calls)
        facts = ("convex", "differentiable", "norms", "dim", "predictor", "lower_bound", "quadratic", "claims")
        for fact in (*facts, "summands"):
            setattr(self, fact, getattr(inner, fact))

    @cached_property
    def smooth_part(self) -> Objective:
        """Calls of the smooth part count as calls of the objective."""
        return self if self.differentiable else _WatchedObjective(self._inner.smooth_part, self._name, self._calls)

    @property
    def smoothness(self) -> float | None:
        return self._inner.smoothness  # type: ignore[no-any-return]

    def value(self, x: Vector) -> float:
        value: float = self._inner.value(x)
        self._noted("value", value)
        return value

    def grad(self, x: Vector) -> Vector:
        grad: Vector = self._inner.grad(x)
        self._noted("grad", grad)
        return grad

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        value, grad = self._inner.value_and_grad(x)
        self._noted("grad", value, grad)
        return value, grad

    def value_at(self, x: Vector, image: Image) -> float:
        value: float = self._inner.value_at(x, image)
        self._noted("value", value)
        return value

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        value, grad = self._inner.value_and_grad_at(x, image)
        self._noted("grad", value, grad)
        return value, grad

    def batch(self, x: Vector, index: NDArray[np.intp]) -> tuple[float, Vector]:
        value, grad = self._inner.batch(x, index)
        self._noted("grad", value, grad, share=1 if self.summands == 1 else len(index) / self.summands)
        return value, grad

    def image(self, x: Vector) -> Image:
        return self._inner.image(x)

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        return self._inner.curvature_along(direction, image)  # type: ignore[no-any-return]

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        return self._inner.scaled_dual_bound(x, linear_minimum)  # type: ignore[no-any-return]

    def rounding(self, x: Vector) -> tuple[float, float]:
        errors: tuple[float, float] = self._inner.rounding(x)
        return errors if np.isfinite(errors).all() else (np.inf, np.inf)  # nothing is proved with such a value

    def value_and_error(self, x: Vector) -> tuple[float, float]:
        value, error = self._inner.value_and_error(x)
        self._noted("value", value)
        return value, error if math.isfinite(error) else np.inf


class _WatchedDomain(_Watched, Domain):
    def __init__(self, inner: Domain, name: str, calls: Counter[str]) -> None:
        super().__init__(inner, name, calls)
        self.dim = inner.dim
        self.oracles = inner.oracles

    @property
    def assumes(self) -> str:  # type: ignore[override]
        return self._inner.assumes  # type: ignore[no-any-return]

    @property
    def diameter(self) -> float:
        return self._inner.diameter  # type: ignore[no-any-return]

    def lmo(self, c: Vector) -> Vector:
        point: Vector = self._inner.lmo(c)
        self._noted("lmo", point)
        return point

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        return self._inner.lmo_bound(c, s)  # type: ignore[no-any-return]

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        cut: Cut = self._inner.lmo_cut(a, c, b, warm=warm)
        self._noted("lmo_cut", cut.point)
        return cut

    def project(self, x: Vector) -> Vector:
        point: Vector = self._inner.project(x)
        self._noted("project", point)
        return point

    def project_cut(self, x: Vector, c: Vector, b: float) -> Vector:
        point: Vector = self._inner.project_cut(x, c, b)
        self._noted("project", point)
        return point

    def distance_outside(self, x: Vector) -> float:
        return self._inner.distance_outside(x)  # type: ignore[no-any-return]

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        return self._inner.contains(x, tol)  # type: ignore[no-any-return]
