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
from .numerics.deadline import check
from .objectives.base import Image, Objective
from .objectives.form import Form
from .problem import Problem
from .sets.base import Cut, Domain
from .usercode import call, real_copy
from .witness import DomainWitness, ObjectiveWitness


class NonFiniteError(ArithmeticError):
    """An oracle returned NaN or an infinity; ``oracle`` names it."""

    def __init__(self, oracle: str) -> None:
        super().__init__(f"the oracle {oracle} returned NaN or an infinity")
        self.oracle = oracle


class Witnesses:
    """Who remembers what the parts of a problem answered that a user wrote; the others need nobody."""

    def __init__(self, problem: Problem) -> None:
        self._dim = problem.dim
        self._domain = DomainWitness(problem.domain, problem.dim) if problem.domain.by_user else None
        self._objectives: dict[tuple[str, bool], ObjectiveWitness] = {}

    def objective(self, inner: Objective, name: str, calls: Counter[str], *, smooth: bool = False) -> Objective:
        """The stand-in for one level, or for its smooth part."""
        if not inner.claims:
            return _WatchedObjective(inner, name, calls)
        key = name.rpartition(".")[2], smooth
        if key not in self._objectives:
            self._objectives[key] = ObjectiveWitness(key[0], inner, self._dim)
        return _UsersObjective(inner, name, calls, self._objectives[key], self)

    def domain(self, inner: Domain, name: str, calls: Counter[str]) -> Domain:
        """The stand-in for the set."""
        if self._domain is None:
            return _WatchedDomain(inner, name, calls)
        return _UsersDomain(inner, name, calls, self._domain)


def watched(problem: Problem, calls: Counter[str], prefix: str = "", witnesses: Witnesses | None = None) -> Problem:
    """The same problem, its oracle calls counted in ``calls`` under names such as "upper.grad".

    What a user wrote gets copies, and its answers are compared with what ``witnesses`` have seen.
    """
    witnesses = witnesses or Witnesses(problem)
    return replace(
        problem,
        upper=witnesses.objective(problem.upper, f"{prefix}upper", calls),
        lower=witnesses.objective(problem.lower, f"{prefix}lower", calls),
        domain=witnesses.domain(problem.domain, f"{prefix}domain", calls),
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
        check()  # between any two oracle calls the time may be up


class _WatchedObjective(_Watched, Objective):
    def __init__(self, inner: Objective, name: str, calls: Counter[str]) -> None:
        super().__init__(inner, name, calls)
        facts = ("convex", "differentiable", "norms", "pieces", "dim", "lower_bound", "quadratic", "claims")
        for fact in (*facts, "summands"):
            setattr(self, fact, getattr(inner, fact))

    @cached_property
    def smooth_part(self) -> Objective:
        """Calls of the smooth part count as calls of the objective."""
        return self if self.differentiable else _WatchedObjective(self._inner.smooth_part, self._name, self._calls)

    @property
    def form(self) -> Form | None:
        return self._inner.form  # type: ignore[no-any-return]

    @property
    def parts(self) -> tuple[tuple[float, Objective], ...]:
        return self._inner.parts  # type: ignore[no-any-return]

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

    def curvature_within(self, x: Vector, radius: float) -> float | None:
        return self._inner.curvature_within(x, radius)  # type: ignore[no-any-return]

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        product: Vector | None = self._inner.hessian_times(x, direction)
        if product is not None:
            self._noted("grad", product)
        return product

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        return self._inner.scaled_dual_bound(x, linear_minimum)  # type: ignore[no-any-return]

    def rounding(self, x: Vector) -> tuple[float, float]:
        errors: tuple[float, float] = self._inner.rounding(x)
        return errors if np.isfinite(errors).all() else (np.inf, np.inf)  # nothing is proved with such a value

    def value_and_error(self, x: Vector) -> tuple[float, float]:
        value, error = self._inner.value_and_error(x)
        self._noted("value", value)
        return value, error if math.isfinite(error) else np.inf


def _passed_on(name: str) -> Any:
    """What the set says of itself: that is no oracle call."""
    return property(lambda self: getattr(self._inner, name))


class _WatchedDomain(_Watched, Domain):
    def __init__(self, inner: Domain, name: str, calls: Counter[str]) -> None:
        super().__init__(inner, name, calls)
        self.dim = inner.dim
        self.oracles = inner.oracles
        self.by_user, self.searches = inner.by_user, inner.searches
        self.polytope, self.binary = inner.polytope, inner.binary

    rows = _passed_on("rows")
    round = _passed_on("round")
    round_block = _passed_on("round_block")
    recognised = _passed_on("recognised")
    outer_box = _passed_on("outer_box")
    polyhedral = _passed_on("polyhedral")
    axes = _passed_on("axes")
    split_rows = _passed_on("split_rows")
    parts = _passed_on("parts")
    each = _passed_on("each")
    euclidean_radius = _passed_on("euclidean_radius")
    bounded = _passed_on("bounded")
    some_point = _passed_on("some_point")
    signs = _passed_on("signs")
    shrinks = _passed_on("shrinks")
    shrinks_groups = _passed_on("shrinks_groups")
    largest = _passed_on("largest")
    optimal_face = _passed_on("optimal_face")
    boundary = _passed_on("boundary")

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


class _UsersObjective(_WatchedObjective):
    """A level that a user wrote: it gets copies, and its answers must fit to those before."""

    def __init__(
        self, inner: Objective, name: str, calls: Counter[str], witness: ObjectiveWitness, witnesses: Witnesses
    ) -> None:
        super().__init__(inner, name, calls)
        self._witness, self._witnesses = witness, witnesses
        self._declares = _declares_errors(inner)

    @cached_property
    def smooth_part(self) -> Objective:
        if self.differentiable:
            return self
        return self._witnesses.objective(self._inner.smooth_part, self._name, self._calls, smooth=True)

    def value(self, x: Vector) -> float:
        return self._seen_value(x, call("value", self._inner.value, x))

    def value_at(self, x: Vector, image: Image) -> float:
        return self._seen_value(x, call("value_at", self._inner.value_at, x, image))

    def value_and_error(self, x: Vector) -> tuple[float, float]:
        value, error = call("value_and_error", self._inner.value_and_error, x)
        return self._seen_value(x, value), error if math.isfinite(error) else np.inf

    def grad(self, x: Vector) -> Vector:
        grad = real_copy(call("grad", self._inner.grad, x), "grad", x.shape)
        self._noted("grad", grad)
        self._witness.saw_grad(x, grad)
        return grad

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self._seen(x, call("value_and_grad", self._inner.value_and_grad, x))

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        return self._seen(x, call("value_and_grad_at", self._inner.value_and_grad_at, x, image))

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        return super().scaled_dual_bound(x.copy(), linear_minimum)

    def rounding(self, x: Vector) -> tuple[float, float]:
        return super().rounding(x.copy())

    def _seen_value(self, x: Vector, answer: Any) -> float:
        value = float(real_copy(answer, "value", ()))
        self._noted("value", value)
        self._witness.saw(x, value, error=self._error(x))
        return value

    def _seen(self, x: Vector, answer: Any) -> tuple[float, Vector]:
        value, grad = float(real_copy(answer[0], "value", ())), real_copy(answer[1], "grad", x.shape)
        self._noted("grad", value, grad)
        self._witness.saw(x, value, grad, self._error(x))
        return value, grad

    def _error(self, x: Vector) -> float:
        """The error that a user's class declares: of the value, and of the gradient along a step as long as x."""
        if not self._declares:
            return 0.0
        value_error, grad_error = self.rounding(x)
        return value_error + 2 * grad_error * float(np.linalg.norm(x))


def _declares_errors(objective: Any) -> bool:
    """Whether a user's class, or one in a sum, has its own ``rounding``: noise that is declared is given away."""
    return any(type(part).rounding is not Objective.rounding and part.claims for _, part in objective.parts)


class _UsersDomain(_WatchedDomain):
    """A set that a user wrote: it gets copies, and its answers must fit to those before."""

    def __init__(self, inner: Domain, name: str, calls: Counter[str], witness: DomainWitness) -> None:
        super().__init__(inner, name, calls)
        self._witness = witness

    def lmo(self, c: Vector) -> Vector:
        point = real_copy(call("lmo", self._inner.lmo, c), "lmo", c.shape)
        self._noted("lmo", point)
        self._witness.saw_minimiser(c, point)
        return point

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        cut: Cut = call("lmo_cut", lambda *given: self._inner.lmo_cut(*given, warm=warm), a, c, b)
        point = real_copy(cut.point, "lmo_cut", a.shape)
        self._noted("lmo_cut", point)
        self._witness.saw_point(point, "lmo_cut")
        return replace(cut, point=point)

    def project(self, x: Vector) -> Vector:
        point = real_copy(call("project", self._inner.project, x), "project", x.shape)
        self._noted("project", point)
        self._witness.saw_projection(x, point)
        return point

    def project_cut(self, x: Vector, c: Vector, b: float) -> Vector:
        point = real_copy(call("project_cut", self._inner.project_cut, x, c, b), "project_cut", x.shape)
        self._noted("project", point)
        return point

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        inside = bool(call("contains", self._inner.contains, x, tol))
        if inside:
            self._witness.saw_point(x, "contains", tol * float(np.linalg.norm(x)))
        return inside

    def distance_outside(self, x: Vector) -> float:
        if type(self._inner).distance_outside is Domain.distance_outside:  # by oracles that the witness sees
            return float(Domain.distance_outside(self, x))
        return float(call("distance_outside", self._inner.distance_outside, x))
