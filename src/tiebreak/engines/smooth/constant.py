"""A last level that is the same at all solutions of the levels before, convex or not.

Strictly convex losses of A x leave the same predictions A x to all minimisers. So a function of B x is constant on
those where the rows of B are combinations of the rows of A. Its value is known as well as some true solution near the
point is; and where none is known, as where classes are all but separated, a function of predicted probabilities is
known by the gap of the level before: slopes of a convex loss with second derivatives up to L_i are off by no more than
sum_i (u_i - u_i*)^2 / (2 L_i) <= g(x) - g* (they are cocoercive), and those of the logistic loss are probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Vector
from ...numerics.extended import Ext, ExtMatrix, double, ext
from ...objectives.base import Objective
from ..rows.bracket import Bracket
from ..rows.level import Evaluation, Level


@dataclass
class ConstantLevel(Level):
    """A function of B x in double precision, constant on the face."""

    objective: Objective | None = None
    before: Objective | None = None
    B: ExtMatrix | None = None
    most: Vector | float = np.inf

    @classmethod
    def last(cls, levels: Sequence[Objective], dim: int, length: float) -> ConstantLevel:
        """The last of the levels, for variables in units of ``length``."""
        given = levels[-1].predictions
        assert given is not None
        return cls(
            dim,
            ext(np.zeros(dim)),
            length,
            lower_bound=levels[-1].lower_bound,
            objective=levels[-1],
            before=levels[-2],
            B=ExtMatrix(given.data.raw * length),
            most=given.most,
        )

    @property
    def linear(self) -> bool:
        return False

    def at(self, x: Ext) -> Evaluation:
        """Value and gradient, for an x whose entries are doubles."""
        assert self.objective is not None
        point = double(x) * self.length
        value, grad = self.objective.value_and_grad(point)
        value_error, grad_error = self.objective.rounding(point)
        error = np.full(self.dim, self.length * grad_error)
        return Evaluation(np.longdouble(value), ext(grad * self.length), value_error, error)

    def bend(self, x: Ext, moves: Vector) -> float:
        assert self.B is not None
        return float(np.sum(self.most * np.asarray(self.B.size @ moves) ** 2)) * (1 + 1e-12)

    @property
    def height(self) -> int:
        return 0 if self.B is None else self.B.shape[0]

    def by_probabilities(self, value: float, gap: float) -> float:
        """How far f at a point with this value, and this gap of the level before, may be from f*; inf if unknown."""
        assert self.objective is not None and self.before is not None
        rows = self.objective.fair_rows(self.before)
        if rows is None or not (rows.weights > 0).all() or not np.isfinite(gap):
            return np.inf
        # u_i = -y_i w_i sigma(-y_i t_i) and L_i = w_i / 4: sum_i 2 w_i (sigma_i - sigma_i*)^2 <= gap
        off = float(np.sqrt(np.sum(rows.w**2 / (2 * rows.weights)) * max(gap, 0.0))) * (1 + 1e-9)
        return (2 * float(np.sqrt(abs(value))) + off) * off * (1 + 1e-9)

    def known(self, found: Evaluation, off: float, prices: int) -> Bracket:
        """f* is within ``off`` of the value."""
        value = float(found.value)
        off = off + found.value_error + 4e-16 * abs(value)
        return Bracket(
            value=found.value,
            value_error=found.value_error,
            grad=found.grad,
            grad_error=found.grad_error,
            lower=max(value - off, self.lower_bound),
            upper=value + off,
            gap=off,
            allowance=off,
            inherited=off,
            left_error=found.grad_error,
            violation=0.0,
            prices=np.zeros(prices),
        )
