"""The start of Algorithm 1 as in the paper's experiments: conditional gradient on g, up to a number of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import process_time
from typing import Any, ClassVar

import numpy as np

from ...arrays import Vector
from ...methods import Solver, State
from ...methods.shared.lower_level import LowerRule, LowerRun, begin, lower_step
from ...problem import Problem
from ...states import Clock, states_of


@dataclass(frozen=True, kw_only=True)
class LowerState(State):
    """A state of conditional gradient on the lower level alone."""

    run: LowerRun


@dataclass(frozen=True)
class LowerLevel(Solver[LowerState]):
    """Conditional gradient on g from 0 until its Frank-Wolfe gap is ``enough``.

    ``skip`` leaves out the first step sizes of a rule that counts them.
    """

    rule: LowerRule
    enough: float
    skip: int = 0

    needs: ClassVar[frozenset[str]] = frozenset({"lower.grad", "domain.lmo"})

    def start(self, problem: Problem, x0: Vector | None) -> LowerState:
        run = begin(problem, np.zeros(problem.dim) if x0 is None else x0)
        return LowerState(x=run.x, run=replace(run, j=self.skip))

    def advance(self, problem: Problem, state: LowerState) -> LowerState:
        run = lower_step(problem, state.run, self.rule, enough=self.enough)
        return LowerState(x=run.x, k=run.j - self.skip, run=run, finished=run.j == state.run.j)


def initial(problem: Problem, rule: LowerRule, enough: float, most: int, skip: int = 0) -> dict[str, Any]:
    """From 0 until the Frank-Wolfe gap is ``enough``, or ``most`` steps are made.

    Returns
    -------
    dict
        ``x``, its ``g``, the last ``gap``, ``steps`` and ``seconds``.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> start = initial(problem, "harmonic", 1e-3, 100_000)
    >>> bool(start["gap"] <= 1e-3), start["g"] <= 1e-3
    (True, True)
    """
    clock = Clock(process_time)
    for state in clock.over(states_of(problem, LowerLevel(rule, enough, skip), None)):
        if state.k >= most:
            break
    assert isinstance(state, LowerState)
    run = state.run
    return {"x": run.x, "g": run.value, "gap": run.gap, "steps": state.k, "seconds": clock.elapsed}
