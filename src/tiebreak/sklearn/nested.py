"""One sample after the other: the best on the second among the (nearly) best on the first."""

from __future__ import annotations

from ..arrays import as_scalar
from ..objectives import Objective
from ..problem import Problem
from ..result import Result
from .base import Clock, LinearModel
from .chunks import ChunkedSample
from .data import Sample, domain_of, least_norm, names_of
from .losses import loss_of, reach_of, unit_of_loss, unit_of_scores

MET = 1e-12
"""A part of the unit of the loss up to which all rows count as met."""


class NestedModel(LinearModel):
    """A model that is trained on one sample after the other."""

    slack: float

    def _check_slack(self) -> None:
        if as_scalar(self.slack, "slack") < 0:
            raise ValueError(f"slack must not be negative, got {self.slack:g}")

    def _best_on_each(
        self, samples: list[Sample], delta: float = 1.0
    ) -> tuple[tuple[Problem, Result], tuple[float, ...]]:
        """The best on the last sample among those that are best on the first one, or within the slack of that.

        The problem, its answer, and the losses of that on the samples.
        """
        intercept = bool(self.fit_intercept)
        losses = [loss_of(self.loss, sample, intercept, delta) for sample in samples]
        found = self._found(samples, losses, Clock(self.max_time))
        return found, tuple(loss.value(found[1].x) for loss in losses)

    def _found(self, samples: list[Sample], losses: list[Objective], clock: Clock) -> tuple[Problem, Result]:
        if len(samples) == 2 and self.loss == "squared_hinge" and not isinstance(samples[0], ChunkedSample):
            # Where a classifier meets all rows of both, those are the solutions, whichever comes first.
            both = samples[0].and_also(samples[1])
            found = self._smallest(both, [loss_of(self.loss, both, bool(self.fit_intercept))], clock)
            if found[1].success and found[1].certificate.g_upper <= MET:
                return found
        if len(samples) == 1 or self.slack == 0:
            found = self._smallest(samples[0], losses, clock)
            if found[1].success or len(samples) == 1:
                return found
        problem = self._nested(samples[0], losses[1], [losses[0]], self.slack)
        units = [unit_of_loss(loss, problem.dim) for loss in losses]
        return problem, self._solved(problem, units[1], units[0], clock)

    def _smallest(self, sample: Sample, losses: list[Objective], clock: Clock) -> tuple[Problem, Result]:
        """The losses, and the norm last."""
        norm = least_norm("l2", int(self.n_features_in_), bool(self.fit_intercept), False)
        problem = self._nested(sample, norm, losses)
        coefficient = unit_of_scores(self.loss, sample) / sample.scale
        unit = min(unit_of_loss(loss, problem.dim) for loss in losses)
        return problem, self._solved(problem, coefficient**2, unit, clock)

    def _nested(self, sample: Sample, upper: Objective, lower: list[Objective], slack: float = 0.0) -> Problem:
        intercept = bool(self.fit_intercept)
        domain = domain_of(sample, intercept, reach_of(self.loss, sample, self.bound))
        names = names_of(self, int(self.n_features_in_), intercept)
        return Problem(upper, lower, domain, relative_slack=slack, names=names)
