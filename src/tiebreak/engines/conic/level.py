"""A quadratic level without rounding: its data as they are stored, values and slopes as exact sums."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...numerics.exact import Exact
from ..cones.level import Level


class ExactLevel(Level):
    """A level with a value and a slope that are exact, too; for quadratic forms."""

    @cached_property
    def _squares(self) -> list[tuple[Exact | None, Exact | None, Exact | None, Exact]]:
        """Data, target, weights and scale of each loss."""

        def maybe(values: object) -> Exact | None:
            return None if values is None else Exact.of(values)

        return [
            (maybe(None if data is None else data.raw), maybe(loss.target), maybe(loss.weights), Exact.of(scale))
            for loss, data, scale in self.form.losses
        ]

    @cached_property
    def _bent(self) -> list[tuple[Exact, Exact]]:
        return [(Exact.of(bend.Q), Exact.of(bend.scale)) for bend in self.form.bends]

    @cached_property
    def _slope(self) -> Exact:
        found = Exact.of(np.zeros(self.dim))
        for c, scale in self.form.linear:
            found = found + Exact.of(scale) * Exact.of(c)
        return found

    def exactly(self, x: Exact) -> tuple[Exact, Exact]:
        """Value and slope."""
        value, slope = Exact.of(self.form.constant) + self._slope @ x, self._slope
        for data, target, weights, scale in self._squares:
            t = x if data is None else data @ x
            residual = t if target is None else t - target
            pull = scale * (residual if weights is None else weights * residual)
            value = value + (pull @ residual) * 0.5
            slope = slope + (pull if data is None else data.T @ pull)
        for Q, scale in self._bent:
            image = scale * (Q @ x)
            value, slope = value + (x @ image) * 0.5, slope + image
        return value, slope
