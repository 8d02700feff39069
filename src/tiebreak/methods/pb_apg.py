"""PB-APG: accelerated proximal gradient on the penalty function f + gamma g with one large gamma.

P. Chen, X. Shi, R. Jiang, J. Wang, "Penalty-based methods for simple bilevel optimization under Hölderian error
bounds", NeurIPS 2024 (arXiv 2402.02155). The greedy steps: J. Liang, T. Luo, C.-B. Schönlieb, "Improving fast iterative
shrinkage-thresholding algorithm: faster, smarter and greedier", SIAM J. Scientific Computing, 2022.

With FISTA's steps: f(x_k) - f* + gamma (g(x_k) - g*) <= 2 (L_f + gamma L_g) ||x_0 - x*||^2 / (k+1)^2.
All steps below are on g + f / gamma, which is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Literal

import numpy as np

from ..arrays import Vector, as_positive
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.projected import NORMS, PROJECTION, Fista, balance, gradient_step, total_lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True)
class Greedy:
    """A run of greedy FISTA: steps 1.3 / L and momentum 1, restarted where it points uphill.

    ``first`` and ``moved`` are the lengths of the first and of the last step; where steps grow beyond the first one,
    the step size falls back towards 1 / L.
    """

    u: Vector
    y: Vector
    scale: float = 1.3
    first: float = inf
    moved: float = inf

    @classmethod
    def at(cls, x: Vector) -> Greedy:
        """The run before its first step."""
        return cls(x, x)

    def step(self, problem: Problem, sigma: float, step: float) -> Greedy:
        """One step on g + sigma f, where ``step`` = 1 / L."""
        return self.to(gradient_step(problem, self.y, sigma, self.scale * step))

    def to(self, u: Vector) -> Greedy:
        """The run after a step from y to u."""
        change = u - self.u
        moved = float(np.linalg.norm(change))
        first = min(self.first, moved) if self.first == inf else self.first
        uphill = float((self.y - u) @ change) >= 0
        scale = max(1.0, 0.96 * self.scale) if moved > first else self.scale
        return Greedy(u, u if uphill else u + change, scale, first, moved)


@dataclass(frozen=True, kw_only=True)
class PenaltyState(State):
    """The accelerated run and 1 / gamma."""

    run: Fista | Greedy
    sigma: float


def penalty_step(problem: Problem, run: Fista | Greedy, sigma: float) -> Fista | Greedy:
    """One accelerated step on g + sigma f."""
    return run.step(problem, sigma, 1 / total_lipschitz(problem, sigma, run.u))


@dataclass(frozen=True)
class PBAPG(Solver[PenaltyState]):
    """The penalty-based accelerated proximal gradient method, for f and g that are smooth plus norms.

    Parameters
    ----------
    gamma : float, optional
        The penalty. Default: 1e5 L_f / L_g (1e5 in the authors' experiments; the factor frees it from units). The
        answer minimises f + gamma g, and g there is within (f* - min f) / gamma of g*.
    variant : {"greedy", "fista"}
        The greedy steps of the authors' experiments, or FISTA, for which the bound above is proved.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, PBAPG(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    gamma: float | None = None
    variant: Literal["greedy", "fista"] = "greedy"

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="pb-apg",
        reference="Chen, Shi, Jiang, Wang, NeurIPS 2024",
        year=2024,
        assumptions="f and g convex, smooth plus norms, Hölderian error bound of order r",
        upper_rate="eps in O(eps^-(max(r, beta)/2)) steps",
        lower_rate="eps^beta in as many",
        oracle="projection",
        anytime=False,
    )

    def __post_init__(self) -> None:
        if self.gamma is not None:
            as_positive(self.gamma, "gamma")
        if self.variant not in ("greedy", "fista"):
            raise ValueError(f'variant must be "greedy" or "fista", got {self.variant!r}')

    def start(self, problem: Problem, x0: Vector | None) -> PenaltyState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        sigma = 1 / self.gamma if self.gamma else 1e-5 * balance(problem, x)
        run = Greedy.at(x) if self.variant == "greedy" else Fista.at(x)
        return PenaltyState(x=x, run=run, sigma=sigma, multiplier=1 / sigma)

    def advance(self, problem: Problem, state: PenaltyState) -> PenaltyState:
        run = penalty_step(problem, state.run, state.sigma)
        return replace(state, k=state.k + 1, x=run.u, run=run)
