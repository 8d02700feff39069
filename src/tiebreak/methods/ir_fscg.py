"""IR-FSCG: IR-CG for finite sums, with gradients estimated by recursive differences (SPIDER).

K.-H. Giang-Tran, S. Shafiee, N. Ho-Nguyen, "Conditional gradient methods with standard LMO for stochastic simple
bilevel optimization", NeurIPS 2025 (arXiv 2505.18037).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..objectives.base import Objective
from .base import MethodInfo
from .shared.sampled_weight import SampledState, SampledWeight
from .shared.stochastic_cut import Estimate


@dataclass(frozen=True)
class IRFSCG(SampledWeight):
    """The iteratively regularised conditional gradient method for finite sums of n smooth terms.

    Every sqrt(n) updates the gradients are computed in full, in between d_k = d_{k-1} + the difference of the sampled
    gradients at x_k and x_{k-1}. What is from the paper's abstract, and what is not known, is said in ``IRSCG``.

    Parameters
    ----------
    p : float
        The exponent of sigma_k, in (0, 1); 1/2 gives both levels the same rate.
    sigma_0, batch, seed
        As for ``IRSCG``.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> rng = np.random.default_rng(0)
    >>> many = tb.Logistic(rng.standard_normal((400, 5)), rng.integers(0, 2, 400))
    >>> result = tb.solve(tb.Problem(tb.SquaredNorm(), many, tb.L1Ball(1.0)), "ir-fscg", tol_upper=0.1, tol_lower=0.1)
    >>> result.success
    True
    """

    largest_p: ClassVar[float] = 1.0
    info: ClassVar[MethodInfo] = MethodInfo(
        name="ir-fscg",
        reference="Giang-Tran, Shafiee, Ho-Nguyen, NeurIPS 2025",
        year=2025,
        assumptions="f and g convex and smooth, finite sums of n terms, Z compact",
        upper_rate="O(k^-(1-p)) up to logarithms, with high probability",
        lower_rate="O(k^-p) up to logarithms, with high probability",
        oracle="terms; linear minimisation over Z",
        anytime=True,
    )

    def estimated(
        self, objective: Objective, state: SampledState, last: Estimate | None, rows: NDArray[np.intp]
    ) -> Estimate:
        if last is None or state.k % ceil(sqrt(objective.summands)) == 0:
            return Estimate(*objective.value_and_grad(state.x))
        new, old = (Estimate(*objective.batch(x, rows)) for x in (state.x, state.previous))
        return last.mixed(0.0, new, old)
