"""A benchopt benchmark of simple bilevel problems with known answers: the families and criteria of ``tiebreak bench``.

    benchopt run benchmarks/benchopt_families -d "families[family=toy]" -s "methods[method=fbi-pg]" --max-runs 20

Both gaps are in units of those at the common start. ``value`` is the two-sided criterion max(|f - f*|, g - g*), for
which a point below f* is wrong; ``definition_1`` is that of the CG-BiO paper, max(f - f*, g - g*), which takes it.
"""

from typing import ClassVar

from benchopt import BaseObjective


class Objective(BaseObjective):
    """The lower level first, the upper one over its solutions."""

    name = "Simple bilevel"
    requirements: ClassVar = ["pip::tiebreak"]
    min_benchopt_version = "1.7"

    def set_data(self, family):
        """A ``tiebreak.lab.comparison.families.Family``: the problem with its answer."""
        self.family = family

    def get_objective(self):
        """Solvers see the problem and the start, not the answer."""
        return {"problem": self.family.problem, "x0": self.family.x0, "units": self.family.units}

    def evaluate_result(self, x):
        """Both gaps of a point, and the criteria."""
        f, g = self.family.gaps(x)
        outside = 0.0 if self.family.problem.domain.contains(x, 1e-7) else 1.0
        return {
            "value": float(max(abs(f), g, outside)),
            "definition_1": float(max(f, g, outside)),
            "upper_gap": float(f),
            "lower_gap": float(g),
        }

    def get_one_result(self):
        """For benchopt's own tests."""
        return {"x": self.family.x0}
