"""DBGD: the step nearest to a gradient step on f among those along which g falls fast enough.

C. Gong, X. Liu, Q. Liu, "Automatic and harmless regularization with constrained and lexicographic optimization: a
dynamic barrier approach", NeurIPS 2021; projected onto Z as in Jiang et al., AISTATS 2023.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

from ..arrays import Vector, as_scalar
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.options import check_positive
from .shared.projected import PROJECTION, lipschitz
from .shared.theory import expect


@dataclass(frozen=True, kw_only=True)
class DBGDState(State):
    """The step of the first update."""

    step: float


@dataclass(frozen=True)
class DBGD(Solver[DBGDState]):
    """The dynamic barrier gradient descent, projected.

    Parameters
    ----------
    step : float, optional
        The constant step gamma; in the CG-BiO paper 1e-4 (regression), 0.08 (fairness), 0.1 (dictionary).
        Default: 1 / ((L_f + L_g) sqrt(k + 1)) in update k = 0, 1, ...; a constant step stops short of the minimum of g.
    alpha, beta : float, default 1
        g shall fall at the rate phi = min(alpha (g - g_hat), beta ||grad g||^2).
    g_hat : float, optional
        A lower bound on g*; 0 in the paper. Default: the one the objective knows (0 for a sum of squares), and
        phi = beta ||grad g||^2 where it knows none.

    Notes
    -----
    Where constraints of Z are active, the projection may undo the fall of g: fixed points of the projected steps need
    not be optimal for either level.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, DBGD()).x.round(1)
    array([0.5, 0.5])
    """

    step: float | None = None
    alpha: float = 1.0
    beta: float = 1.0
    g_hat: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    info: ClassVar[MethodInfo] = MethodInfo(
        name="dbgd",
        reference="Gong, Liu, Liu, NeurIPS 2021",
        year=2021,
        assumptions="f and g smooth; no constraints (the projection onto Z is a heuristic)",
        upper_rate="stationarity only",
        lower_rate="stationarity only",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "step", "alpha", "beta")
        if self.g_hat is not None:
            as_scalar(self.g_hat, "g_hat")

    def start(self, problem: Problem, x0: Vector | None) -> DBGDState:
        expect(False, self.info.name, "a problem without constraints; the steps are projected onto Z")
        x = start_point(problem) if x0 is None else x0
        step = self.step or 1 / (lipschitz(problem, "upper", x) + lipschitz(problem, "lower", x))
        return DBGDState(x=x, step=step)

    def advance(self, problem: Problem, state: DBGDState) -> DBGDState:
        a = problem.upper.grad(state.x)
        g, c = problem.lower.value_and_grad(state.x)
        size = float(c @ c)
        g_hat = problem.lower.lower_bound if self.g_hat is None else self.g_hat
        phi = min(self.alpha * (g - g_hat), self.beta * size)
        lam = max((phi - float(a @ c)) / size, 0.0) if size > 0 else 0.0
        step = state.step / sqrt(state.k + 1) if self.step is None else state.step
        x = problem.domain.project(state.x - step * (a + lam * c))
        return replace(state, k=state.k + 1, x=x, multiplier=lam)
