"""FBi-PG: accelerated proximal gradient on g + sigma_k f, with a weight that vanishes faster than 1/k.

R. Merchav, S. Sabach, M. Teboulle, "A fast algorithm for convex composite bi-level optimization", 2024
(arXiv 2407.21221).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector, as_positive
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .shared.projected import NORMS, PROJECTION, InertialState, balance, gradient_step, total_lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True)
class FBiPG(Solver[InertialState]):
    """The fast bi-level proximal gradient method, for f and g that are smooth plus norms.

    Parameters
    ----------
    gamma : float
        sigma_k = c (k+a)^-gamma; in (1, 2]. The split of the rates below is from memory of the paper.
    a : float
        At least 2; the momentum is k / (k + a + 1).
    c : float, optional
        The unit of the weights. Default: L_g / L_f (1 in the paper), which frees gamma from the units of f and g.

    Notes
    -----
    Gradients are taken at extrapolated points, which may lie outside Z.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, FBiPG(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    gamma: float = 1.5
    a: float = 3.0
    c: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="fbi-pg",
        reference="Merchav, Sabach, Teboulle, arXiv 2407.21221, 2024",
        year=2024,
        assumptions="f and g convex, smooth plus norms",
        upper_rate="O(k^-(2-gamma))",
        lower_rate="O(k^-gamma)",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if not 1 < as_positive(self.gamma, "gamma") <= 2:
            raise ValueError(f"gamma must be in (1, 2], got {self.gamma:g}")
        if as_positive(self.a, "a") < 2:
            raise ValueError(f"a must be at least 2, got {self.a:g}")
        if self.c is not None:
            as_positive(self.c, "c")

    def start(self, problem: Problem, x0: Vector | None) -> InertialState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        return InertialState(x=x, previous=x, unit=self.c or balance(problem, x))

    def advance(self, problem: Problem, state: InertialState) -> InertialState:
        k, x = state.k, state.x
        sigma_0, sigma = (state.unit * (j + self.a) ** -self.gamma for j in (0, k))
        step = 1 / total_lipschitz(problem, sigma_0, x)
        y = x + k / (k + self.a + 1) * (x - state.previous)
        new = gradient_step(problem, y, sigma, step)
        return replace(state, k=k + 1, x=new, previous=x, multiplier=1 / sigma)
