"""What SAM, HSDM, BiG-SAM and iBiG-SAM share: a map S that goes down in f, a map T whose fixed points minimise g.

T(x) = Proj_Z(x - eta_g grad g(x)), with norms in g the proximal gradient step, and S(x) = x - eta_f grad f(x).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from ...arrays import Vector
from ...composite import How, Level
from ...problem import Problem, start_point
from ..base import MethodInfo, Solver, State
from .curvature import strong_convexity
from .options import check_positive
from .projected import PROJECTION, gradient_step, lipschitz
from .theory import expect, expect_convex


@dataclass(frozen=True, kw_only=True)
class OutsideState(State):
    """A state of a method whose iterates x may leave Z.

    Attributes
    ----------
    y : array
        The point of Z that the method reports.
    """

    y: Vector


@dataclass(frozen=True, kw_only=True)
class AveragingState(OutsideState):
    """The steps eta_f of S and eta_g of T, and the factor gamma of the weights; y is T of the iterate before x."""

    eta_f: float
    eta_g: float
    gamma: float = 1.0


A = TypeVar("A", bound=AveragingState)


@dataclass(frozen=True)
class Averaging(Solver[A]):
    """The steps of both maps; a method adds how it averages them."""

    eta_f: float | None = None
    eta_g: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = {"lower": "joint prox"}

    def __post_init__(self) -> None:
        check_positive(self, "eta_f", "eta_g")

    def begin(self, problem: Problem, x0: Vector | None) -> AveragingState:
        """The state before the first update; without steps of the user, 2 / (L_f + mu_f) and 1 / L_g."""
        expect_convex(problem, self.info.name)
        mu = strong_convexity(problem.upper, problem.dim)
        expect(mu > 0, self.info.name, "a strongly convex upper level")
        x, eta_f = start_point(problem) if x0 is None else x0, self.eta_f
        if eta_f is None:
            L = lipschitz(problem, "upper", x)
            eta_f = 2 / (L + min(mu, L)) if mu > 0 else 1 / L
        eta_g = self.eta_g or 1 / lipschitz(problem, "lower", x)
        return AveragingState(x=x, y=x, eta_f=eta_f, eta_g=eta_g)

    def solution(self, state: A) -> Vector:
        return state.y


def averaging_info(name: str, reference: str, year: int, lower_rate: str = "asymptotic") -> MethodInfo:
    """The row of a method of this family, whose theorems assume the same."""
    return MethodInfo(
        name=name,
        reference=reference,
        year=year,
        assumptions="f strongly convex and smooth, g convex, smooth plus norms",
        upper_rate="asymptotic",
        lower_rate=lower_rate,
        oracle="projection",
        anytime=True,
    )


def averaged(problem: Problem, state: A, x: Vector, alpha: float) -> A:
    """The state after x <- alpha S(x) + (1 - alpha) T(x)."""
    y = gradient_step(problem, x, 0.0, state.eta_g)
    z = x - state.eta_f * problem.upper.grad(x)
    # a fixed point of the average is one of projected gradient on f + multiplier g, but for the projection of z
    multiplier = (1 - alpha) * state.eta_g / (alpha * state.eta_f)
    return replace(state, k=state.k + 1, x=alpha * z + (1 - alpha) * y, y=y, multiplier=multiplier)
