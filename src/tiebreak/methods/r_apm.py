"""R-APM: FISTA on g + eta f with a fixed small weight eta.

S. Samadi, D. Burbano, F. Yousefian, "Achieving optimal complexity guarantees for a class of bilevel convex optimization
problems", 2023 (arXiv 2310.12247).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector, as_positive
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.projected import NORMS, PROJECTION, Fista, balance, total_lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class RAPMState(State):
    """The run of FISTA and the weight of f."""

    run: Fista
    eta: float


@dataclass(frozen=True)
class RAPM(Solver[RAPMState]):
    """The regularised accelerated proximal method, for f and g that are smooth plus norms.

    Parameters
    ----------
    eta : float, optional
        The weight of f. Default: 1e-5 L_g / L_f (1e-5 is what public experiments use; the factor frees it from units).
        Where g has weak sharp minima, every small enough eta gives exact solutions; otherwise the answer is the
        minimiser of g + eta f, and eta sets how far that is from the solution.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, RAPM(eta=1e-3), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    eta: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="r-apm",
        reference="Samadi, Burbano, Yousefian, arXiv 2310.12247, 2023",
        year=2023,
        assumptions="f and g convex, smooth plus norms; weak sharp minima of g, or f strongly convex",
        upper_rate="O(1/k^2) under weak sharp minima",
        lower_rate="O(1/k^2) under weak sharp minima",
        oracle="projection",
        anytime=False,
    )

    def __post_init__(self) -> None:
        if self.eta is not None:
            as_positive(self.eta, "eta")

    def start(self, problem: Problem, x0: Vector | None) -> RAPMState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        eta = self.eta or 1e-5 * balance(problem, x)
        return RAPMState(x=x, run=Fista.at(x), eta=eta, multiplier=1 / eta)

    def advance(self, problem: Problem, state: RAPMState) -> RAPMState:
        run = state.run.step(problem, state.eta, 1 / total_lipschitz(problem, state.eta, state.x))
        return replace(state, k=state.k + 1, x=run.u, run=run)
