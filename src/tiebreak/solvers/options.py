"""What methods do with the parameters a user gives, and with those he leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Vector, as_positive
from ..problem import Problem


def check_positive(solver: Any, *names: str) -> None:
    """Each of these parameters must be positive, or None where the method chooses it."""
    for name in names:
        if (value := getattr(solver, name)) is not None:
            as_positive(value, name)


def step_across(problem: Problem, slope: Vector) -> float:
    """The step along ``slope`` that is as long as Z is wide: where a line search begins."""
    size, width = float(np.linalg.norm(slope)), problem.domain.diameter
    return (width if 0 < width < np.inf else 1.0) / (size if size > 0 else 1.0)
