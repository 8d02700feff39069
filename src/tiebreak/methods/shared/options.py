"""What methods do with the parameters a user gives, and with those he leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, as_positive
from ...problem import Problem
from ...steps import StepRule


def check_positive(solver: Any, *names: str) -> None:
    """Each of these parameters must be positive, or None where the method chooses it."""
    for name in names:
        if (value := getattr(solver, name)) is not None:
            as_positive(value, name)


def check_rule(rule: object, name: str = "step") -> None:
    """A parameter that must be a step rule."""
    if not isinstance(rule, StepRule):
        raise TypeError(f"{name} must be a rule such as tiebreak.steps.Harmonic(2, 2), got {rule!r}")


def too_short(x: Vector, step: float, first: float) -> bool:
    """Whether a step of this length from x is lost in rounding, so that a line search has nothing left to try.

    ``first`` is the length of the step it began with: below a unit of roundoff of that, and of x, functions that are
    what they claim to be have passed any test of decrease long ago. Without this end noise could go on for ever.
    """
    return not step > UNIT_ROUNDOFF * (float(np.linalg.norm(x)) + first)


def step_across(problem: Problem, slope: Vector) -> float:
    """The step along ``slope`` that is as long as Z is wide: where a line search begins."""
    size, width = float(np.linalg.norm(slope)), problem.domain.diameter
    return (width if 0 < width < np.inf else 1.0) / (size if size > 0 else 1.0)
