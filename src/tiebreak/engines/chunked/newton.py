"""From small problem to small problem: a quadratic level needs one, a smooth one some steps of Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from logging import getLogger

from ...arrays import Vector
from ...numerics.deadline import check
from ...objectives.algebra import Sum
from ...objectives.base import Objective
from ...objectives.losses.square import LeastSquares
from ...problem import Problem
from ...sets.base import Domain
from ..answer import Answer, Elsewhere
from .levels import RowLevel, RowTerm
from .triangle import Reduced, Small, reduced, small

logger = getLogger("tiebreak")

STEPS = 40  # of Newton's method; a dozen are common
ENOUGH = 1e-7  # of the value: after a step that promises so little, the next one would promise its square
HALVINGS = 12


def minimised(
    level: RowLevel, held: Sequence[Objective], domain: Domain, x: Vector, last: bool = False
) -> tuple[Vector, Reduced | None]:
    """A minimiser of the level over the minimisers of those ``held``, all small, and what stands for it there.

    Of the ``last`` level what stands for it is only that where it is quadratic: it is seen at the last step but one.
    """
    if not level.terms:
        assert level.rest is not None
        return _answer([*held, level.rest], domain).x, None
    here = _passes(level, x)
    for step in range(STEPS):
        model = _model(level, here, x.size)
        objective = small_objective(model, level.rest)
        s = _answer([*held, objective], domain).x
        if level.quadratic:
            return s, model
        promised = objective.value(x) - objective.value(s)
        now = _value(level, here, x)
        logger.info("Newton step %d in chunks: value %.12g, promised %.2g", step + 1, now, promised)
        if promised <= ENOUGH * abs(now):
            return s, None if last else _model(level, _passes(level, s), x.size)
        x, here, moved = _damped(level, x, s, here, promised)
        if not moved:  # flat to the last digit
            return x, None if last else model
    raise Elsewhere(f"Newton's method has not come to an end in {STEPS} passes")


def _model(level: RowLevel, here: Sequence[Small], dim: int) -> Reduced:
    return reduced([(term.scale, found.triangle) for term, found in zip(level.terms, here, strict=True)], dim)


def _damped(
    level: RowLevel, x: Vector, s: Vector, here: list[Small], promised: float
) -> tuple[Vector, list[Small], bool]:
    """The step to s, or as much of it as decreases the level; a pass for each try."""
    now, length = _value(level, here, x), 1.0
    for _ in range(HALVINGS):
        point = x + length * (s - x) if length < 1 else s
        there = _passes(level, point)
        then = _value(level, there, point)
        if then <= now - 0.1 * length * promised:
            return point, there, True
        length /= 4
    return x, here, False


def _passes(level: RowLevel, x: Vector) -> list[Small]:
    check()
    return [small(term, x) for term in level.terms]


def _value(level: RowLevel, here: Sequence[Small], x: Vector) -> float:
    own = sum(term.scale * found.value for term, found in zip(level.terms, here, strict=True))
    return own + (0.0 if level.rest is None else level.rest.value(x))


def small_objective(model: Reduced, rest: Objective | None) -> Objective:
    """The level as it is near the point: a few rows, and what was in memory before."""
    squares: list[Objective] = [LeastSquares(model.rows, model.target)] if model.rows.size else []
    squares += [] if rest is None else [rest]
    return squares[0] if len(squares) == 1 else Sum(*squares)


def _answer(levels: Sequence[Objective], domain: Domain) -> Answer:
    """What the engines say of a small problem."""
    from ..choice import choose_engine

    choice = choose_engine(Problem(levels[-1], list(levels[:-1]), domain))
    if choice.engine is None:
        raise Elsewhere(choice.why_not)
    return choice.solve()


__all__ = ["RowTerm", "minimised", "small_objective"]
