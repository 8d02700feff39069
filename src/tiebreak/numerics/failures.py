"""What is raised where a linear programme or a set has nothing to give; light: who catches it loads no solver."""

from __future__ import annotations

from ..arrays import Vector


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
