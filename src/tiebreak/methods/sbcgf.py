"""SBCGF: CG-BiO for finite sums, with gradients and values estimated by recursive differences (SPIDER).

J. Cao, R. Jiang, N. Abolfazli, E. Yazdandoost Hamedani, A. Mokhtari, "Projection-free methods for stochastic simple
bilevel optimization with convex lower-level problem", NeurIPS 2023 (arXiv 2308.07536), Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..objectives.base import Objective
from .base import MethodInfo
from .shared.stochastic_cut import Estimate, StochasticCut, StochasticState


@dataclass(frozen=True)
class SBCGF(StochasticCut):
    """The stochastic bilevel conditional gradient method for finite sums of n smooth terms.

    Every sqrt(n) updates the gradients are computed in full, in between d_t = d_{t-1} + the difference of the sampled
    gradients at x_t and x_{t-1}; the same for the value of g. This is from memory of the paper, whose step is constant,
    log(T)/T for a given number of updates T; here it is 2/(t+2) and K_t falls with it, so that no T is needed.
    Objectives that are no sums over rows are evaluated in full.

    Parameters
    ----------
    batch, step, slack, seed, tol_lower
        As for ``SBCGI``; the paper's batch is the default.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> rng = np.random.default_rng(0)
    >>> many = tb.Logistic(rng.standard_normal((400, 5)), rng.integers(0, 2, 400))
    >>> result = tb.solve(tb.Problem(tb.SquaredNorm(), many, tb.L1Ball(1.0)), "sbcgf", tol_upper=0.1, tol_lower=0.1)
    >>> result.success
    True
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="sbcgf",
        reference="Cao, Jiang, Abolfazli, Yazdandoost Hamedani, Mokhtari, NeurIPS 2023",
        year=2023,
        assumptions="f and g convex and smooth, finite sums of n terms, Z compact",
        upper_rate="eps from O(sqrt(n)/eps) term gradients, up to logarithms, with high probability",
        lower_rate="the same",
        oracle="terms; linear minimisation over Z and a half-space",
        anytime=False,
    )

    def estimated(
        self, objective: Objective, state: StochasticState, last: Estimate | None, rows: NDArray[np.intp]
    ) -> Estimate:
        if last is None or (state.k - state.first) % ceil(sqrt(objective.summands)) == 0:
            return Estimate(*objective.value_and_grad(state.x))
        new, old = (Estimate(*objective.batch(x, rows)) for x in (state.x, state.previous))
        return last.mixed(0.0, new, old)

    def decay(self, t: int) -> float:
        return 2 / (t + 2)
