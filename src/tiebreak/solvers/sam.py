"""SAM: averages of a contraction and a nonexpansive map, the latter with ever more weight.

H.-K. Xu, "Viscosity approximation methods for nonexpansive mappings", J. Math. Anal. Appl. 298, 2004. Here
T(x) = Proj_Z(x - t grad g(x)), whose fixed points are the lower solutions, and S(x) = x - s grad f(x). With norms in g,
T is the proximal gradient step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from ..arrays import Vector, as_scalar
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .curvature import strong_convexity
from .options import check_positive
from .projected import gradient_step, lipschitz
from .theory import expect, expect_convex


@dataclass(frozen=True, kw_only=True)
class OutsideState(State):
    """A state of a method whose iterates x may leave Z.

    Attributes
    ----------
    y : array
        The point of Z that the method reports: T of the iterate before x.
    """

    y: Vector


@dataclass(frozen=True, kw_only=True)
class AveragingState(OutsideState):
    """The steps eta_f of S and eta_g of T, and the factor gamma of the weights."""

    eta_f: float
    eta_g: float
    gamma: float = 1.0


A = TypeVar("A", bound=AveragingState)


def begin_averaging(
    problem: Problem, x0: Vector | None, method: str, eta_f: float | None, eta_g: float | None
) -> AveragingState:
    """The state before the first update; without steps of the user, 2 / (L_f + mu_f) and 1 / L_g."""
    expect_convex(problem, method)
    mu = strong_convexity(problem.upper, problem.dim)
    expect(mu > 0, method, "a strongly convex upper level")
    x = start_point(problem) if x0 is None else x0
    if eta_f is None:
        L = lipschitz(problem, "upper", x)
        eta_f = 2 / (L + min(mu, L)) if mu > 0 else 1 / L
    eta_g = eta_g or 1 / lipschitz(problem, "lower", x)
    return AveragingState(x=x, y=x, eta_f=eta_f, eta_g=eta_g)


def averaged(problem: Problem, state: A, x: Vector, alpha: float) -> A:
    """The state after x <- alpha S(x) + (1 - alpha) T(x)."""
    y = gradient_step(problem, x, 0.0, state.eta_g)
    z = x - state.eta_f * problem.upper.grad(x)
    # a fixed point of the average is one of projected gradient on f + multiplier g, but for the projection of z
    multiplier = (1 - alpha) * state.eta_g / (alpha * state.eta_f)
    return replace(state, k=state.k + 1, x=alpha * z + (1 - alpha) * y, y=y, multiplier=multiplier)


@dataclass(frozen=True)
class SAM(Solver[AveragingState]):
    """The sequential averaging method, with the weights (k + 1)^-power of S.

    Parameters
    ----------
    power : float, default 0.75
        In (0, 1]. Xu's theorem allows all of them; 1 brings g down fastest, but makes progress on f no better than
        k^-(1 - contraction factor of S). BiG-SAM is the case of power 1 with a factor.
    eta_f, eta_g : float, optional
        The steps of S and T. Default: 2 / (L_f + mu_f) (1 / L_f where mu_f is not known) and 1 / L_g.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, SAM(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    power: float = 0.75
    eta_f: float | None = None
    eta_g: float | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo", "domain.project"})
    nonsmooth: ClassVar[Mapping[Level, How]] = {"lower": "joint prox"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="sam",
        reference="Xu, J. Math. Anal. Appl. 298, 2004",
        year=2004,
        assumptions="f strongly convex and smooth, g convex, smooth plus norms",
        upper_rate="asymptotic",
        lower_rate="asymptotic",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "eta_f", "eta_g")
        if not 0 < as_scalar(self.power, "power") <= 1:
            raise ValueError(f"power must be in (0, 1], got {self.power:g}")

    def start(self, problem: Problem, x0: Vector | None) -> AveragingState:
        return begin_averaging(problem, x0, self.info.name, self.eta_f, self.eta_g)

    def advance(self, problem: Problem, state: AveragingState) -> AveragingState:
        return averaged(problem, state, state.x, (state.k + 1) ** -self.power)

    def solution(self, state: AveragingState) -> Vector:
        return state.y
