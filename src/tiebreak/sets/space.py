"""The whole space."""

from __future__ import annotations

from math import inf

from .box import Box


class Space(Box):
    """The whole space: no constraint at all, as ``Problem(domain=None)`` means it.

    Parameters
    ----------
    dim : int, optional
        The dimension; without it the set fits any.

    Examples
    --------
    A free intercept beside weights that are not negative:

    >>> import numpy as np
    >>> import tiebreak as tb
    >>> Z = tb.Product({"weights": (tb.Box(0.0, np.inf), 3), "intercept": (tb.Space(), 1)})
    >>> Z.bounded, Z.project(np.array([1.0, -2.0, 0.0, -5.0]))
    (False, array([ 1.,  0.,  0., -5.]))
    """

    identity = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(-inf, inf, dim)

    def __repr__(self) -> str:
        return "Space()" if self.dim is None else f"Space({self.dim})"
