"""A loss of one's own as an objective."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np

from ...arrays import Vector, as_positive
from ...usercode import real_copy
from ..linked import Linked
from ..matrix import DataMatrix
from .base import Loss


class LossOf(Linked):
    """A loss h of the predictions of a linear model, f(x) = scale * h(Ax), h a ``Loss`` that you have written.

    Parameters
    ----------
    loss : Loss
        h: a subclass of ``tiebreak.Loss`` with ``value_and_slope`` and ``curvature``, and what it knows of itself.
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    scale : float
        A positive factor.

    Notes
    -----
    What the loss says of itself is taken: ``most`` (bounds on h''), ``self_concordance`` (M with abs(h''') <= M h''),
    ``lower_bound``, ``strictly_convex``. ``tiebreak.testing.check_objective`` holds it to its values. With a curvature
    and strict convexity, exact solves take it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> @dataclass(frozen=True, eq=False)
    ... class LogCosh(tb.Loss):
    ...     b: np.ndarray
    ...     most, lower_bound, strictly_convex, self_concordance = 1.0, 0.0, True, 2.0
    ...     row_data = ("b",)
    ...
    ...     def value_and_slope(self, t):
    ...         r = np.abs(t - self.b)
    ...         return float(np.sum(r + np.log1p(np.exp(-2 * r)) - np.log(2))), np.tanh(t - self.b)
    ...
    ...     def curvature(self, t):
    ...         return 1 - np.tanh(t - self.b) ** 2
    >>> f = tb.LossOf(LogCosh(np.array([1.0, -1.0])), [[1.0, 0.0], [1.0, 2.0]])
    >>> f.grad([1.0, -1.0]).tolist(), f.convex
    ([0.0, 0.0], True)
    """

    def __init__(self, loss: Loss, A: Any, scale: float = 1.0) -> None:
        if not isinstance(loss, Loss):
            raise TypeError(f"loss must be an object of a subclass of tiebreak.Loss, got {type(loss).__name__}")
        data = DataMatrix(A, "A")
        zero = np.zeros(data.shape[0])
        answer = loss.value_and_slope(zero)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError("loss.value_and_slope(t) must return two things: the value h(t) and the vector h'(t)")
        real_copy(answer[0], "loss.value_and_slope(t)[0]", ())
        real_copy(answer[1], "loss.value_and_slope(t)[1]", zero.shape)
        bend = real_copy(loss.curvature(zero), "loss.curvature(t)", zero.shape)
        if (bend < 0).any():
            raise ValueError(f"loss.curvature(t) must not be negative, as h is convex: it has {bend.min():g} at t = 0")
        super().__init__(data, loss, as_positive(scale, "scale"))
        if not is_dataclass(loss):
            self.summands = 1  # it cannot be asked for some of its rows
        facts = {
            "lower_bound": np.isfinite(loss.lower_bound),
            "most": np.isfinite(loss.most).all(),
            "self_concordance": np.isfinite(loss.self_concordance),
            "strictly_convex": loss.strictly_convex,
        }
        given = ["values", "derivatives", *(name for name, known in facts.items() if known)]
        self.claims = f"{', '.join(given[:-1])} and {given[-1]} of {loss.name} are as its class gives them"
        if not (facts["most"] or facts["self_concordance"]):
            self.claims += f", and rounding of its arguments does not double the curvature of {loss.name}"

    def _bend(self, t: Vector, radius: float) -> float:
        bend = self.link.bend(t, radius)
        return bend if np.isfinite(bend) else 2 * float(self.link.curvature(t).max())  # type: ignore[attr-defined]
