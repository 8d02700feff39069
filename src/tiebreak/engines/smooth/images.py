"""The rows P that all minimisers of a level agree on, in the norm |.|_H of its second derivatives.

P d for the rows of squares and losses is known by |d|_H row by row: its weights. The rows come in units, powers of two,
in which these weights are about 1. Where rows belong to a group, ``least`` is the weight by which the largest of them
is known. Quadratics x'Qx have their rows Q after them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, ExtMatrix, between, total
from ...numerics.rows import power_of_two
from ..rows.level import Bend, stack


class Images:
    """Rows with weights, and after them those of quadratics."""

    def __init__(self, blocks: Sequence[tuple[Matrix, Vector, Vector]], bends: Sequence[Bend], dim: int) -> None:
        self.rows: Matrix = stack([*(rows for rows, _, _ in blocks), *(bend.Q.A for bend in bends)], dim)
        self.given = np.concatenate([np.zeros(0), *(weights for _, weights, _ in blocks)])
        self.least = np.concatenate([np.zeros(0), *(least for _, _, least in blocks)])
        self.bends, self.dim = bends, dim
        self.keep(None)

    def keep(self, pivots: NDArray[np.intp] | None) -> None:
        """Keep some rows only (there are no quadratics then)."""
        weights, least, self.kept = self.given, self.least, self.rows
        if pivots is not None:
            weights, least, self.kept = self.given[pivots], self.least[pivots], self.rows[pivots]
        self._units = power_of_two(np.sqrt(weights))
        self._weights, self._least = weights / self._units**2, least / self._units**2

    @property
    def P(self) -> ExtMatrix:
        """The rows that are kept, in their units."""
        units = np.append(self._units, np.ones(self.kept.shape[0] - self._units.size))
        return ExtMatrix(between(units, self.kept, np.ones(self.dim)))

    @property
    def size(self) -> float:
        """A factor with |P d| <= size * |d|_H."""
        square = 1 / float(self._weights.min(initial=np.inf))
        square += sum(float(np.sqrt((bend.Q.size**2).sum())) / float(bend.scale) for bend in self.bends)
        return float(np.sqrt(square))

    def moves(self, fall: float, M: float, room: float) -> Vector:
        """Bounds on the entries of P d for steps d that make the level, less its linear model, rise by at most this.

        A loss whose third derivatives are at most M times its second ones, h'', rises by
        at least h'' (e^-v + v - 1)/M^2 for a move of s, v = M |s|, which is at
        least h'' s^2/(2 + v): up to a move of ``room``, where h'' may jump, and at a higher rate beyond. In a group, v
        is that of the largest move.
        """
        fall = max(0.0, fall)
        with np.errstate(over="ignore"):
            ratio = fall / self._least  # in units of the rows, moves are s times these
            half = 0.5 * M * ratio / self._units
            largest = half + np.sqrt(half**2 + 2 * ratio)
            found = np.sqrt(fall / self._weights * (2 + M * largest / self._units))
            found = np.where(found < room * self._units, found * (1 + 1e-12), np.inf)
        bent = [
            np.full(self.dim, np.sqrt(2 * fall * float(np.sqrt((Q.size**2).sum())) / float(scale)))
            for Q, scale in self.bends
        ]
        return np.concatenate([found, *bent])

    def dual_size(self, w: Ext) -> float:
        """The norm of w with |<w, P d>| <= dual_size(w) * |d|_H."""
        start = self._weights.size
        square = total(w[:start] ** 2 / self._weights)
        for Q, scale in self.bends:
            part = w[start : start + self.dim]
            square += max(total(part * Q.times(part)), np.longdouble(0)) / scale
            start += self.dim
        return float(np.sqrt(square)) * (1 + 1e-12)
