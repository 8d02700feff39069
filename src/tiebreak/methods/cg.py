"""Conditional gradient on the upper level alone: the paper's baseline that shows what the cut is for.

M. Frank, P. Wolfe, 1956; Section 5.3 of Jiang et al., AISTATS 2023. It ignores the lower level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..points import REFRESH, Point, mix, place
from ..problem import Problem, start_point
from ..steps import Harmonic, InverseSqrt, StepRule
from .base import MethodInfo, Solver, State
from .shared.options import check_rule


@dataclass(frozen=True, kw_only=True)
class CGState(State):
    """x with its image under the upper level."""

    point: Point


@dataclass(frozen=True)
class CG(Solver[CGState]):
    """Conditional gradient on f over Z, without the cut: a baseline, not a method for the bilevel problem.

    Parameters
    ----------
    step : StepRule, optional
        Default: ``Harmonic(2, 2)`` for a convex upper level, ``InverseSqrt(1)`` for a nonconvex one.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, "cg", max_iter=100)
    >>> result.certificate.lower_gap > 0.1  # it minimises f and forgets g
    True
    """

    step: StepRule | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "domain.lmo"})
    info: ClassVar[MethodInfo] = MethodInfo(
        name="cg",
        reference="Frank, Wolfe, 1956; the baseline of Jiang et al., AISTATS 2023",
        year=1956,
        assumptions="f smooth, Z compact; ignores g",
        upper_rate="O(1/k) to the minimum of f over Z; f nonconvex: O(1/sqrt(k))",
        lower_rate="none",
        oracle="linear minimisation over Z",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if self.step is not None:
            check_rule(self.step)

    def start(self, problem: Problem, x0: Vector | None) -> CGState:
        x = start_point(problem) if x0 is None else x0
        return CGState(x=x, point=place([problem.upper], x))

    def advance(self, problem: Problem, state: CGState) -> CGState:
        _, a = problem.upper.value_and_grad_at(state.x, state.point.images[0])
        target = place([problem.upper], problem.domain.lmo(a))
        step = self.step or (Harmonic(2, 2) if problem.upper.convex else InverseSqrt(1.0))
        point = mix(state.point, target, step(state.k))
        if (state.k + 1) % REFRESH == 0:
            point = place([problem.upper], point.x)
        return replace(state, k=state.k + 1, x=point.x, point=point)
