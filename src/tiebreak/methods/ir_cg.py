"""IR-CG: conditional gradient steps on g + sigma_k f with a vanishing weight, and a weighted average of the iterates.

K.-H. Giang-Tran, N. Ho-Nguyen, D. Lee, "A projection-free method for solving convex bilevel optimization problems",
Mathematical Programming, 2025 (arXiv 2311.09738).

With sigma_k = sigma_0 (k+1)^-p and steps 2/(k+2), the telescoped inequality behind the rates is, with C = L D^2,
w_t (f(x_t) - f*) + sum_k w_k (f(x_k) - f*) + t (t+1) (g(x_t) - g*) <= 2 t C_g + 2 C_f sum_{k<t} sigma_k,
where w_k = k (k+1) (sigma_{k-1} - sigma_k) for 0 < k < t and w_t = t (t+1) sigma_{t-1}: the weights of the average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector, as_positive
from ..points import REFRESH, Point, mix, place
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.late_average import LateAverage
from .shared.projected import balance
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class IRCGState(State):
    """x with its images, and the average that is reported."""

    point: Point
    sigma_0: float
    average: Vector
    late: LateAverage


@dataclass(frozen=True)
class IRCG(Solver[IRCGState]):
    """The iteratively regularised conditional gradient method, for smooth f and g: plain linear minimisation only.

    Parameters
    ----------
    p : float
        The exponent of sigma_k, in (0, 1); 1/2 gives both levels the same rate. From the paper's abstract; the paper's
        own constants are not known here.
    sigma_0 : float, optional
        The first weight of f. Default: L_g / L_f, which balances both terms of the bound.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, IRCG(), tol_upper=1e-1, tol_lower=1e-1)
    >>> result.success
    True
    """

    p: float = 0.5
    sigma_0: float | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo"})
    info: ClassVar[MethodInfo] = MethodInfo(
        name="ir-cg",
        reference="Giang-Tran, Ho-Nguyen, Lee, Mathematical Programming 2025",
        year=2023,
        assumptions="f and g convex and smooth, Z compact",
        upper_rate="O(k^-(1-p))",
        lower_rate="O(k^-p)",
        oracle="linear minimisation over Z",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if not 0 < as_positive(self.p, "p") < 1:
            raise ValueError(f"p must be in (0, 1), got {self.p:g}")
        if self.sigma_0 is not None:
            as_positive(self.sigma_0, "sigma_0")

    def start(self, problem: Problem, x0: Vector | None) -> IRCGState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        sigma_0 = self.sigma_0 or balance(problem, x)
        point = place([problem.upper, problem.lower], x)
        return IRCGState(x=x, point=point, sigma_0=sigma_0, average=x, late=LateAverage.of_none(x), anchor=x)

    def advance(self, problem: Problem, state: IRCGState) -> IRCGState:
        k, x, images = state.k, state.x, state.point.images
        sigma = self._sigma(state, k)
        late = state.late.and_then(x, k, self._sigma(state, k - 1) - sigma) if k > 0 else state.late
        _, a = problem.upper.value_and_grad_at(x, images[0])
        _, c = problem.lower.value_and_grad_at(x, images[1])
        levels = [problem.upper, problem.lower]
        point = mix(state.point, place(levels, problem.domain.lmo(sigma * a + c)), 2 / (k + 2))
        if (k + 1) % REFRESH == 0:
            point = place(levels, point.x)
        return replace(
            state, k=k + 1, x=point.x, point=point, late=late, average=late.with_last(point.x, k + 1, sigma),
            anchor=point.x, multiplier=1 / sigma,
        )  # fmt: skip

    def _sigma(self, state: IRCGState, k: int) -> float:
        return float(state.sigma_0 * (k + 1) ** -self.p)

    def solution(self, state: IRCGState) -> Vector:
        return state.average
