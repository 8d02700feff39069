"""What engines are asked, and the same said in another way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from ..arrays import Vector
from ..objectives.base import Objective
from ..sets.base import Domain
from .answer import Answer


@dataclass(frozen=True)
class Task:
    """What an engine is asked: levels, the most important first, over a domain."""

    levels: tuple[Objective, ...]
    domain: Domain


class Reduction(Protocol):
    """The same task said in another way."""

    @property
    def name(self) -> str:
        """In words."""

    @property
    def original(self) -> Task:
        """The task it was made from."""

    @property
    def task(self) -> Task:
        """The reduced task."""

    def invert(self, answer: Answer) -> Answer:
        """The answer to the task it was made from."""

    def point(self, x: Vector) -> Vector:
        """The point that one of the reduced task stands for."""


@dataclass(frozen=True)
class Recognised:
    """The same domain under a name that says more of it."""

    original: Task
    task: Task

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.original.domain!r} as the {self.task.domain!r} it is"

    def invert(self, answer: Answer) -> Answer:
        """The same answer; multipliers are those of other rows."""
        return replace(answer, duals=())

    def point(self, x: Vector) -> Vector:
        """The same point."""
        return x
