"""What is raised where a linear programme or a set has nothing to give, or arithmetic ends; light: who catches it loads
no solver."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np

from ..arrays import Vector

ARITHMETIC = (OverflowError, ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError)
"""What Python and NumPy raise where numbers are too large, too small, or none at all."""

LIBRARY = str(Path(__file__).parents[1])


def out_of_range(error: Exception) -> str:
    """What to say of an error of ``ARITHMETIC`` in the library; raises it again where it is of a user's code."""
    if type(error) not in ARITHMETIC or not _of_the_library(error):
        raise error
    return (
        f"the arithmetic has no answer ({type(error).__name__}: {error}), because numbers of the problem are too large "
        "or too small; write it in units in which data and solutions are between 1e-100 and 1e100"
    )


def _of_the_library(error: Exception) -> bool:
    """Whether the library has raised it, or NumPy and SciPy for the library."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not {"numpy", "scipy"} & set(Path(frame.filename).parts):
            return frame.filename.startswith(LIBRARY)
    return False


class EmptySet(ValueError):
    """It is proved that a polyhedron has no point."""


class NoBox(ValueError):
    """No box is known to hold a polyhedron; ``ray`` is a direction in which it goes on for ever, where one is known."""

    def __init__(self, message: str, ray: Vector | None = None) -> None:
        super().__init__(message)
        self.ray = ray


class LinearProgramError(RuntimeError):
    """HiGHS could not solve a linear programme; ``status`` is its own word for what happened.

    ``ray`` holds the multipliers with which it claims that no point satisfies all rows, where it does.
    """

    def __init__(self, message: str, status: str, ray: Vector | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.ray = ray
