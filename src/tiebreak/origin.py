"""What a state needs beside itself to be resumed: its problem, its method, and what the bounds knew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .arrays import Vector
from .engines.answer import Answer
from .fingerprint import Fingerprint


@dataclass(frozen=True)
class Proved:
    """The numbers of a certificate that hold for the problem, whatever the point."""

    g_lower: float
    g_upper: float
    f_lower: float
    f_upper: float

    def together(self, other: Proved) -> Proved:
        """The better of each."""
        return Proved(
            max(self.g_lower, other.g_lower),
            min(self.g_upper, other.g_upper),
            max(self.f_lower, other.f_lower),
            min(self.f_upper, other.f_upper),
        )


class Average(NamedTuple):
    """An average of linearisations: s -> constant + <grad, s>, with the errors of both."""

    constant: float
    grad: Vector
    error: float
    grad_error: float


@dataclass(frozen=True)
class Known:
    """All that the bounds go on from.

    Attributes
    ----------
    best : Proved
        The bounds themselves.
    multiplier : float
        The multiplier behind f_lower.
    best_lower : array or None
        The point with the smallest g seen.
    average : Average or None
        The average of the linearisations of g.
    seen : int
        How many there were.
    answer : Answer or None
        What an exact method has proved.
    """

    best: Proved
    multiplier: float = 0.0
    best_lower: Vector | None = None
    average: Average | None = None
    seen: int = 0
    answer: Answer | None = None


@dataclass(frozen=True)
class Ledger:
    """Where the loop stood when it put a state aside.

    Attributes
    ----------
    bounds : Known
        The bounds of the run.
    shown : Proved
        With what a last look at the final point has added, which a run that goes on would not have taken.
    looked : bool
        Whether the bounds have seen the point of the state.
    stationarity : float or None
        That of a nonconvex f there.
    next_check, unchanged, changed_at, last
        When bounds are due, and the count of those that changed nothing.
    tightened_at
        When the method was asked for a smaller lower-level tolerance last.
    """

    bounds: Known
    shown: Proved
    looked: bool
    stationarity: float | None
    next_check: int
    unchanged: int
    changed_at: int
    last: tuple[float, ...]
    tightened_at: int = 0


@dataclass(frozen=True)
class Origin:
    """Where a state comes from.

    Attributes
    ----------
    problem : Fingerprint
        The problem.
    method, parameters : str
        The method that made it, and its parameters.
    seed : int or None
        The seed of the run.
    ledger : Ledger or None
        What bounds and loop knew; None for a state in the middle of a run.
    """

    problem: Fingerprint
    method: str
    parameters: str
    seed: int | None = None
    ledger: Ledger | None = None
