"""A function of a linear map of the variables."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import Matrix, Vector
from .base import Objective
from .form import Form
from .matrix import DataMatrix


class Composed(Objective):
    """f(N z), a function of z.

    Its values are those of f; data that are multiplied into one matrix are rounded, so it is for finding points, not
    for bounds.

    Parameters
    ----------
    inner : Objective
        f, differentiable.
    N : array
        The map.

    Examples
    --------
    >>> import numpy as np, tiebreak as tb
    >>> f = Composed(tb.SquaredNorm(), np.array([[1.0], [2.0]]))
    >>> f.value([2.0]), f.grad([2.0]).tolist(), f.form.value([2.0])
    (10.0, [10.0], 10.0)
    """

    def __init__(self, inner: Objective, N: Matrix) -> None:
        self.inner, self.N, self.dim = inner, N, int(N.shape[1])
        self.convex, self.quadratic, self.lower_bound = inner.convex, inner.quadratic, inner.lower_bound

    @cached_property
    def form(self) -> Form | None:
        """That of the objective, with the map in its data."""
        form, N = self.inner.form, self.N
        if form is None or form.norms or form.pieces:
            return None
        data = [DataMatrix.trusted(np.asarray(N if t.data is None else t.data.raw @ N)) for t in form.losses]
        return replace(
            form,
            losses=tuple(term._replace(data=own) for term, own in zip(form.losses, data, strict=True)),
            bends=tuple(bend._replace(Q=np.asarray(N.T @ (bend.Q @ N)), q=N.T @ bend.q) for bend in form.bends),
            slopes=tuple(slope._replace(c=N.T @ slope.c) for slope in form.slopes),
        )

    @cached_property
    def smoothness(self) -> float | None:
        """By the norm of the map."""
        steep = self.inner.smoothness
        return None if steep is None else steep * float(np.linalg.norm(self.N)) ** 2

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        value, grad = self.inner.value_and_grad(self.N @ self._point(x))
        return value, self.N.T @ grad
