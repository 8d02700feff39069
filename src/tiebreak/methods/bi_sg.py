"""Bi-SG: a proximal gradient step on g over Z, then one on f, without Z, with vanishing size.

R. Merchav, S. Sabach, "Convex bi-level optimization problems with nonsmooth outer objective function",
SIAM J. Optimization 33, 2023. Norms in f enter by their prox, as in the second of the paper's two versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector, as_positive
from ..composite import How, Level, prox
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.projected import PROJECTION, gradient_step, lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class BiSGState(State):
    """x is the point after the step on g, in Z; ``ahead`` the one after the step on f, perhaps outside."""

    ahead: Vector


@dataclass(frozen=True)
class BiSG(Solver[BiSGState]):
    """The bi-level sub-gradient method, for f and g that are smooth plus norms.

    Parameters
    ----------
    exponent : float
        The step on f is c (k+1)^-exponent; in (1/2, 1). 0.95 is what the public experiments use.
    c : float, optional
        Default: 1 / L_f, the largest of the theory.

    Notes
    -----
    The second step leaves Z: both gradients must exist around Z as well. Norms in f need no prox over Z.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, BiSG(), tol_upper=1e-2, tol_lower=1e-2).success
    True
    """

    exponent: float = 0.95
    c: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = {"upper": "prox", "lower": "joint prox"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="bi-sg",
        reference="Merchav, Sabach, SIAM J. Optimization 2023",
        year=2023,
        assumptions="f and g convex, smooth plus norms",
        upper_rate="O(k^-(1-a)), a = exponent",
        lower_rate="O(k^-a)",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if not 0.5 < as_positive(self.exponent, "exponent") < 1:
            raise ValueError(f"exponent must be in (1/2, 1), got {self.exponent:g}")
        if self.c is not None:
            as_positive(self.c, "c")

    def start(self, problem: Problem, x0: Vector | None) -> BiSGState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        return BiSGState(x=x, ahead=x)

    def advance(self, problem: Problem, state: BiSGState) -> BiSGState:
        t = 1 / lipschitz(problem, "lower", state.x)
        eta = (self.c or 1 / lipschitz(problem, "upper", state.x)) * (state.k + 1) ** -self.exponent
        y = gradient_step(problem, state.ahead, 0.0, t)
        ahead = prox(problem.upper.norms, y - eta * problem.upper.smooth_part.grad(y), eta)
        return replace(state, k=state.k + 1, x=y, ahead=ahead, multiplier=t / eta)
