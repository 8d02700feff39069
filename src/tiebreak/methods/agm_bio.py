"""AGM-BiO: accelerated projected gradient on f over the part of Z that a cutting plane of g leaves.

J. Cao, R. Jiang, E. Yazdandoost Hamedani, A. Mokhtari, "An accelerated gradient method for convex smooth simple bilevel
optimization", NeurIPS 2024 (arXiv 2402.08097).

Beside it FISTA runs on g; its smallest value so far is the right-hand side g_k of the cut. On a compact Z, with
A_k = k (k+1) / (8 L_f): f(x_k) - f* <= ||x_0 - x*||^2 / (2 A_k), and g(x_k) - g* = O(1/k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.projected import Fista, lipschitz
from .shared.theory import expect


@dataclass(frozen=True, kw_only=True)
class AGMState(State):
    """x and z of the method, the sum A of its steps, the run on g and the smallest g that it has seen."""

    z: Vector
    A: float = 0.0
    run: Fista
    level: float


@dataclass(frozen=True)
class AGMBiO(Solver[AGMState]):
    """The accelerated gradient method for bilevel problems, for smooth f and g; steps a_k = (k+1) / (4 L_f).

    The structure of the method and its first step size are from memory of the paper; the bound on f above is derived
    for the method as it is here. Its variant for Hölderian error bounds is not included.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, AGMBiO(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.project", "domain.project_cut"})
    info: ClassVar[MethodInfo] = MethodInfo(
        name="agm-bio",
        reference="Cao, Jiang, Yazdandoost Hamedani, Mokhtari, NeurIPS 2024",
        year=2024,
        assumptions="f and g convex and smooth, Z compact",
        upper_rate="O(1/k^2)",
        lower_rate="O(1/k)",
        oracle="projection onto Z and onto Z and a half-space",
        anytime=True,
    )

    def start(self, problem: Problem, x0: Vector | None) -> AGMState:
        expect(problem.upper.convex, self.info.name, "a convex upper level")
        x = start_point(problem) if x0 is None else x0
        return AGMState(x=x, z=x, run=Fista.at(x), level=problem.lower.value(x), anchor=x)

    def advance(self, problem: Problem, state: AGMState) -> AGMState:
        run = state.run.step(problem, 0.0, 1 / lipschitz(problem, "lower", state.x))
        value = problem.lower.value(run.u)
        if value < state.level:
            state = replace(state, level=value, anchor=run.u)

        a = (state.k + 1) / (4 * lipschitz(problem, "upper", state.x))
        A = state.A + a
        y = (state.A * state.x + a * state.z) / A
        g, c = problem.lower.value_and_grad(y)
        # the half-space of points with g(y) + <grad g(y), z - y> <= g_k, which rounding must not make empty
        at_y, level = float(c @ y), state.level + problem.slack
        rounding = 16 * UNIT_ROUNDOFF * (abs(g) + abs(level) + float(np.abs(c) @ np.abs(y)))
        z = problem.domain.project_cut(state.z - a * problem.upper.grad(y), c, at_y + level - g + rounding)
        return replace(state, k=state.k + 1, x=(state.A * state.x + a * z) / A, z=z, A=A, run=run)
