"""Tikhonov's regularisation: minimise g + sigma f over Z for one small sigma, by accelerated projected gradient.

A. N. Tikhonov, V. Y. Arsenin, "Solutions of ill-posed problems", 1977; Fista: A. Beck, M. Teboulle, 2009, begun
anew whenever it has gone too far (B. O'Donoghue, E. Candes, Found. Comput. Math. 15, 2015).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.options import check_positive
from .shared.projected import NORMS, PROJECTION, Fista, balance, lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class TikhonovState(State):
    """The run of Fista, the weight of f, and the step."""

    run: Fista
    sigma: float
    step: float


@dataclass(frozen=True)
class Tikhonov(Solver[TikhonovState]):
    """One regularised problem, g + sigma f over Z.

    Parameters
    ----------
    sigma : float, optional
        The weight of f; the answer x_sigma has g(x_sigma) - g* <= sigma (f* - min f over Z). Default: 1e-3 L_g / L_f.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, Tikhonov(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    sigma: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="tikhonov",
        reference="Tikhonov, Arsenin, 1977",
        year=1977,
        assumptions="f and g convex, smooth plus norms",
        upper_rate="O(1/k^2) to the minimum of g + sigma f",
        lower_rate="O(1/k^2) to the minimum of g + sigma f",
        oracle="projection",
        anytime=False,
    )

    def __post_init__(self) -> None:
        check_positive(self, "sigma")

    def start(self, problem: Problem, x0: Vector | None) -> TikhonovState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        sigma = self.sigma or 1e-3 * balance(problem, x)
        step = 1 / (lipschitz(problem, "lower", x) + sigma * lipschitz(problem, "upper", x))
        return TikhonovState(x=x, run=Fista.at(x), sigma=sigma, step=step, multiplier=1 / sigma)

    def advance(self, problem: Problem, state: TikhonovState) -> TikhonovState:
        before, run = state.run, state.run.step(problem, state.sigma, state.step)
        if float((before.y - run.u) @ (run.u - before.u)) > 0:  # the momentum points uphill
            run = Fista.at(run.u)
        return replace(state, k=state.k + 1, x=run.u, run=run)
