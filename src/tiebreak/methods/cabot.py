"""Cabot's diagonal proximal point method: x <- prox of lam (g + eps_k f) over Z, with eps_k -> 0.

A. Cabot, "Proximal point algorithm controlled by a slowly vanishing term: applications to hierarchical minimization",
SIAM J. Optimization 15, 2005. The prox is computed by accelerated projected gradient, to summable errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from ..arrays import Vector
from ..composite import How, Level, joint_prox
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.options import check_positive
from .shared.projected import NORMS, PROJECTION, balance, lipschitz, norms_of, smooth_slope
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class CabotState(State):
    """The scale of the weights of f, the parameter of the prox, and the Lipschitz constants of both gradients."""

    eps0: float
    prox: float
    L_f: float
    L_g: float


@dataclass(frozen=True)
class Cabot(Solver[CabotState]):
    """The proximal point method on g + eps_k f with eps_k = eps0 / (k + 1) in update k = 0, 1, ...

    Parameters
    ----------
    eps0 : float, optional
        Default: L_g / L_f.
    prox : float, optional
        The parameter lam of the prox. Default: 10 / L_g. A larger one makes fewer, longer updates.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, Cabot()).x.round(1)
    array([0.5, 0.5])
    """

    eps0: float | None = None
    prox: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="cabot",
        reference="Cabot, SIAM J. Optimization 15, 2005",
        year=2005,
        assumptions="f and g convex; here smooth plus norms, for the prox",
        upper_rate="asymptotic",
        lower_rate="asymptotic",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "eps0", "prox")

    def start(self, problem: Problem, x0: Vector | None) -> CabotState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        L_f, L_g = lipschitz(problem, "upper", x), lipschitz(problem, "lower", x)
        return CabotState(x=x, eps0=self.eps0 or balance(problem, x), prox=self.prox or 10 / L_g, L_f=L_f, L_g=L_g)

    def advance(self, problem: Problem, state: CabotState) -> CabotState:
        k, eps = state.k, state.eps0 / (state.k + 1)
        mu, L = 1 / state.prox, state.L_g + eps * state.L_f + 1 / state.prox
        if not np.isfinite(L / mu):
            raise OverflowError("the curvature of the levels is beyond the range of doubles")
        momentum = (1 - sqrt(mu / L)) / (1 + sqrt(mu / L))
        # ||x - prox|| <= 2 (L / mu) ||x - y|| for x the projected gradient step from y: errors as (k + 1)^-2
        width = problem.domain.diameter
        error = 0.01 * (width if np.isfinite(width) else 1.0) / (k + 1) ** 2
        enough = max(error * mu / (2 * L), 1e-15 * float(np.linalg.norm(state.x)))
        norms = norms_of(problem, eps)
        x = y = state.x
        for _ in range(int(50 * sqrt(L / mu))):  # then the error has fallen by e^-50: the rest is rounding
            slope = smooth_slope(problem, y, eps) + mu * (y - state.x)
            before, x = x, joint_prox(problem.domain, norms, y - slope / L, 1 / L)
            if float(np.linalg.norm(x - y)) <= enough:
                break
            y = x + momentum * (x - before)
        return replace(state, k=k + 1, x=x, multiplier=1 / eps)
