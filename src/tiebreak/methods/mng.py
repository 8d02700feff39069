"""MNG: the minimal norm gradient method, which minimises f over two half-spaces that hold all solutions.

A. Beck, S. Sabach, "A first order method for finding minimal norm-like solutions of convex optimization problems",
Mathematical Programming 147, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import Vector
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .shared.averaging import OutsideState
from .shared.metric import metric, nearest_in_two_half_spaces, times
from .shared.options import check_positive, step_across, too_short
from .shared.projected import PROJECTION, lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class MNGState(OutsideState):
    """A state of MNG.

    Attributes
    ----------
    centre : array
        The minimiser of f over R^d; f is 1/2 <x - centre, H (x - centre)> up to a constant.
    root : array
        The Cholesky factor of H; a 0-d array, sqrt(mu), where H = mu I.
    M : float
        The reciprocal of the step on g.
    """

    centre: Vector
    root: Vector
    M: float


@dataclass(frozen=True)
class MNG(Solver[MNGState]):
    """The minimal norm gradient method, for a strongly convex quadratic f.

    Parameters
    ----------
    M : float, optional
        At least L_g. Default: L_g; where that is unknown, M is doubled until the step on g is short enough.

    Notes
    -----
    Update: y = Proj_Z(x - grad g(x) / M), G = M (x - y), and x becomes the minimiser of f over R^d subject to
    <G, x - z> >= 3 ||G||^2 / (4 M) (all minimisers of g satisfy it; with an M found by doubling, 2 replaces the 3)
    and <grad f(x), z - x> >= 0. That is a projection onto two half-spaces in the metric of f. The first x is
    the minimiser of f over R^d, whatever x0 is; the reported point is y.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, MNG(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    M: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    info: ClassVar[MethodInfo] = MethodInfo(
        name="mng",
        reference="Beck, Sabach, Mathematical Programming 147, 2014",
        year=2014,
        assumptions="f strongly convex (here: quadratic), g convex and smooth",
        upper_rate="asymptotic",
        lower_rate="O(1/sqrt(k))",
        oracle="projection, and minimisation of f over two half-spaces",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "M")

    def start(self, problem: Problem, x0: Vector | None) -> MNGState:
        expect_convex(problem, self.info.name)
        centre, root = metric(problem)
        y = start_point(problem) if x0 is None else x0
        if problem.lower.smoothness is None:  # where the doubling begins
            M = self.M or 1 / step_across(problem, problem.lower.grad(centre))
        else:
            M = self.M or lipschitz(problem, "lower", centre)
        return MNGState(x=centre, y=y, centre=centre, root=root, M=M)

    def advance(self, problem: Problem, state: MNGState) -> MNGState:
        x, M, certain = state.x, state.M, 0.75
        g, c = problem.lower.value_and_grad(x)
        y = problem.domain.project(x - c / M)
        if self.M is None and problem.lower.smoothness is None:
            certain, rounding, size = 0.5, 8 * np.finfo(float).eps * abs(g), float(np.linalg.norm(c))
            while problem.lower.value(y) > g + float(c @ (y - x)) + 0.5 * M * float((y - x) @ (y - x)) + rounding:
                if too_short(x, size / M, size / state.M):
                    return replace(state, k=state.k + 1, y=y)  # noise: no M passes, and the half-space is not known
                M *= 2
                y = problem.domain.project(x - c / M)
        # grad f from the centre: there it must be 0, since rounding errors would be half-spaces like any other
        G, a = M * (x - y), times(state.root, x - state.centre)
        # rows <c, z - x> <= b, written from x, where the numbers are small
        rows, bounds = np.array([G, -a]), np.array([-certain / M * float(G @ G), 0.0])
        x = x + nearest_in_two_half_spaces(state.centre - x, state.root, rows, bounds)
        return replace(state, k=state.k + 1, x=x, y=y, M=M)

    def solution(self, state: MNGState) -> Vector:
        return state.y
