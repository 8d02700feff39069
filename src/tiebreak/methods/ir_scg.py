"""IR-SCG: IR-CG with gradients estimated from samples by recursive momentum (STORM).

K.-H. Giang-Tran, S. Shafiee, N. Ho-Nguyen, "Conditional gradient methods with standard LMO for stochastic simple
bilevel optimization", NeurIPS 2025 (arXiv 2505.18037).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..objectives.base import Objective
from .base import MethodInfo
from .shared.sampled_weight import SampledState, SampledWeight
from .shared.stochastic_cut import Estimate


@dataclass(frozen=True)
class IRSCG(SampledWeight):
    """The iteratively regularised stochastic conditional gradient method: plain linear minimisation, sampled terms.

    Estimates: d_k = grad F(x_k; rows) + (1 - a_k) (d_{k-1} - grad F(x_{k-1}; rows)) with the step a_k = 2/(k+2). The
    parts (STORM, a vanishing weight, linear minimisation over Z alone) and the rates are from the paper's abstract;
    its constants are not known here. Objectives that are no sums over rows are evaluated in full.

    Parameters
    ----------
    p : float
        The exponent of sigma_k = sigma_0 (k+1)^-p, in (0, 1/2); 1/4 gives both levels the same rate.
    sigma_0 : float, optional
        The first weight of f. Default: L_g / L_f.
    batch : int, optional
        Terms a sample; default: the square root of their number. The paper takes one.
    seed : int, optional
        The terms drawn are a function of it and of k alone; default 0.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> rng = np.random.default_rng(0)
    >>> f, g = (tb.LeastSquares(rng.standard_normal((n, 5)), rng.standard_normal(n), 1 / n) for n in (400, 3))
    >>> result = tb.solve(tb.Problem(f, g, tb.L1Ball(1.0)), IRSCG(), tol_upper=0.2, tol_lower=0.2)
    >>> result.success
    True
    """

    p: float = 0.25

    largest_p: ClassVar[float] = 0.5
    info: ClassVar[MethodInfo] = MethodInfo(
        name="ir-scg",
        reference="Giang-Tran, Shafiee, Ho-Nguyen, NeurIPS 2025",
        year=2025,
        assumptions="f and g convex and smooth, expectations or finite sums, Z compact",
        upper_rate="O(k^-(1/2-p)) up to logarithms, with high probability",
        lower_rate="O(k^-p) up to logarithms, with high probability",
        oracle="samples; linear minimisation over Z",
        anytime=True,
    )

    def estimated(
        self, objective: Objective, state: SampledState, last: Estimate | None, rows: NDArray[np.intp]
    ) -> Estimate:
        new = Estimate(*objective.batch(state.x, rows))
        if last is None or objective.summands == 1:
            return new
        return last.mixed(2 / (state.k + 2), new, Estimate(*objective.batch(state.previous, rows)))
