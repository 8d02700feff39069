"""SBCGI: CG-BiO with gradients and values estimated from samples by recursive momentum (STORM).

J. Cao, R. Jiang, N. Abolfazli, E. Yazdandoost Hamedani, A. Mokhtari, "Projection-free methods for stochastic simple
bilevel optimization with convex lower-level problem", NeurIPS 2023 (arXiv 2308.07536), Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..objectives.base import Objective
from .base import MethodInfo
from .shared.stochastic_cut import Estimate, StochasticCut, StochasticState


@dataclass(frozen=True)
class SBCGI(StochasticCut):
    """The stochastic bilevel conditional gradient method with momentum, for smooth finite sums.

    Estimates: d_t = grad F(x_t; rows) + (1 - a_t) (d_{t-1} - grad F(x_{t-1}; rows)) with a_t = 2/(t+1), the same for
    the value of g; K_t falls like 1/sqrt(t+1). These exponents are from memory of the paper; the unit of K_t is the
    library's own, as the paper's depends on constants that are rarely known. Objectives that are no sums over rows are
    evaluated in full.

    Parameters
    ----------
    batch : int, optional
        Terms a sample; default: the square root of their number. The paper takes one.
    step : StepRule
        ``Harmonic(2, 2)`` for a convex upper level.
    slack : float
        K_0 as a share of the largest fall of g in one step of the initial run; 0 where no sampling takes place.
    seed : int, optional
        The terms drawn are a function of it and of k alone; default 0.
    tol_lower : float, optional
        The initial conditional gradient run on g (with full gradients) ends at half of it; default: that of the run.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> rng = np.random.default_rng(0)
    >>> f, g = (tb.LeastSquares(rng.standard_normal((n, 5)), rng.standard_normal(n), 1 / n) for n in (400, 3))
    >>> result = tb.solve(tb.Problem(f, g, tb.L1Ball(1.0)), SBCGI(), tol_upper=0.1, tol_lower=0.1)
    >>> result.success
    True
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="sbcgi",
        reference="Cao, Jiang, Abolfazli, Yazdandoost Hamedani, Mokhtari, NeurIPS 2023",
        year=2023,
        assumptions="f and g convex and smooth, expectations or finite sums, Z compact",
        upper_rate="O(1/sqrt(k)) up to logarithms, with high probability",
        lower_rate="O(1/sqrt(k)) up to logarithms, with high probability",
        oracle="samples; linear minimisation over Z and a half-space",
        anytime=False,
    )

    def estimated(
        self, objective: Objective, state: StochasticState, last: Estimate | None, rows: NDArray[np.intp]
    ) -> Estimate:
        new = Estimate(*objective.batch(state.x, rows))
        if last is None or objective.summands == 1:
            return new
        a = 2 / (state.k - state.first + 1)
        return last.mixed(a, new, Estimate(*objective.batch(state.previous, rows)))

    def decay(self, t: int) -> float:
        return 1 / sqrt(t + 1)
