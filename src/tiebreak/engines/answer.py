"""What an exact engine returns: the point and what it has proved about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Vector


class Elsewhere(Exception):
    """This way does not lead to the answer, or another one is likely to be faster."""


class Unbounded(Exception):
    """A level has no minimum: from some solution of the levels before it falls along a ray.

    Attributes
    ----------
    level : int
        Which one, the first being 0.
    ray : array
        The direction.
    point : array
        A point of Z, a solution of the levels before.
    finished : tuple of Answer
        Those of the levels before.
    for_ever : bool
        Whether it falls for ever along the ray; else towards a value that it never takes.
    partial : Answer or None
        The same as one answer, in terms of the task that was asked.
    """

    def __init__(
        self, level: int, ray: Vector, point: Vector, finished: tuple[Answer, ...] = (), for_ever: bool = True
    ) -> None:
        super().__init__(f"level {level + 1} is not bounded below" if for_ever else f"level {level + 1} has no minimum")
        self.level, self.ray, self.point, self.finished, self.for_ever = level, ray, point, finished, for_ever
        self.partial: Answer | None = None


@dataclass(frozen=True)
class Duals:
    """Multipliers of the constraints at the optimum of a level: what it costs to hold them.

    The gradient of the level there is A'rows + columns, A the rows of the set: those of the inequalities, then those
    of the equalities. Multipliers are negative where an upper end is held and positive where a lower one is: the
    optimum changes by the multiplier for each unit by which that end is moved. After other levels they hold those as
    well, together with multipliers of their images, which are not given.

    Attributes
    ----------
    rows : array
        One for each row.
    columns : array
        One for each variable: of its bounds, the reduced cost.
    """

    rows: Vector
    columns: Vector


@dataclass(frozen=True)
class Answer:
    """A point of Z and a bracket around both optimal values.

    Attributes
    ----------
    x : array
        The point.
    g_lower, g_upper : float
        g* lies between them.
    f_lower, f_upper : float
        f* lies between them; ``f_upper`` is inf unless proved.
    multiplier : float
        The price of lower-level loss, where the engine has one.
    lower_unique : bool or None
        Whether the lower level has one solution only; None where the engine cannot tell.
    upper_constant : bool or None
        True where f is the same at all lower solutions.
    well_posed : bool
        False where a decision on rank or face hangs on rounding: the bracket holds, the word "exact" does not.
    notes : tuple of str
        What a user should know, in plain words: rank decisions with their tolerance, ill-posedness, the path taken.
    assumes : tuple of str
        What the bracket takes for granted.
    steps : int
        Iterations of the engine.
    brackets : tuple of pairs
        Of a chain: a bracket for each level, the most important first; the last two are those of g and f.
    moves : array or None
        Where the engine knows: some solution of the levels before the last, with f at most ``f_upper``, has no entry
        that differs from that of x by more.
    own_duals : Duals or None
        Multipliers of the level that is f here, where the engine has them.
    duals : tuple of Duals or None
        Of a chain: those of each level, the most important first.
    stationarity : float or None
        Of an f that is not convex: a bound on the largest <grad f(x), x - s> over all lower solutions s.
    """

    x: Vector
    g_lower: float
    g_upper: float
    f_lower: float
    f_upper: float
    multiplier: float = 0.0
    lower_unique: bool | None = None
    upper_constant: bool | None = None
    well_posed: bool = True
    notes: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    steps: int = 0
    brackets: tuple[tuple[float, float], ...] = ()
    moves: Vector | None = None
    own_duals: Duals | None = None
    duals: tuple[Duals | None, ...] = ()
    stationarity: float | None = None

    @property
    def width(self) -> float:
        """f_upper - f_lower relative to 1 + |f|, inf where one of them is."""
        return (
            float((self.f_upper - self.f_lower) / (1 + abs(0.5 * (self.f_upper + self.f_lower))))
            if np.isfinite(self.f_upper - self.f_lower)
            else np.inf
        )


def of_all(answers: Sequence[Answer]) -> Answer:
    """The last answer of a chain, with the brackets and multipliers of all."""
    brackets = tuple((answer.f_lower, answer.f_upper) for answer in answers)
    return replace(answers[-1], brackets=brackets, duals=tuple(answer.own_duals for answer in answers))


def joined(best: Answer, other: Answer) -> Answer:
    """The first answer, with what both prove: two brackets around one number both hold it."""
    lower, upper = max(best.f_lower, other.f_lower), min(best.f_upper, other.f_upper)
    g_lower, g_upper = max(best.g_lower, other.g_lower), min(best.g_upper, other.g_upper)
    if lower > upper or g_lower > g_upper:  # by the rounding that one of them takes for granted
        return best
    brackets = best.brackets and (*best.brackets[:-2], (g_lower, g_upper), (lower, upper))
    return replace(
        best,
        g_lower=g_lower,
        g_upper=g_upper,
        f_lower=lower,
        f_upper=upper,
        lower_unique=other.lower_unique if best.lower_unique is None else best.lower_unique,
        upper_constant=best.upper_constant or other.upper_constant,
        assumes=tuple(dict.fromkeys(best.assumes + other.assumes)),
        brackets=brackets,
    )


def unfinished(finished: Sequence[Answer], floors: Sequence[float]) -> Answer:
    """What is known of a chain whose first levels are solved: some solution of those, and brackets for all.

    ``floors`` are below all values of each level.
    """
    last = finished[-1]
    brackets = [(answer.f_lower, answer.f_upper) for answer in finished]
    brackets += [(floor, np.inf) for floor in floors[len(finished) :]]
    (g_lower, g_upper), (f_lower, f_upper) = brackets[-2:] if len(brackets) > 1 else brackets * 2
    notes = (*last.notes, f"stopped after {len(finished)} of {len(floors)} levels")
    return Answer(
        last.x, g_lower, g_upper, f_lower, f_upper, well_posed=False, notes=notes, assumes=last.assumes,
        brackets=tuple(brackets),
    )  # fmt: skip
