"""The start of Algorithm 1 as in the paper's experiments: conditional gradient on g, up to a number of steps."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from ..problem import Problem
from ..solvers.lower_level import LowerRule, begin, lower_step


def initial(problem: Problem, rule: LowerRule, enough: float, most: int, skip: int = 0) -> dict[str, Any]:
    """From 0 until the Frank-Wolfe gap is ``enough``, or ``most`` steps are made; ``skip`` leaves out the first step
    sizes of a rule that counts them.

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
    started = time.perf_counter()
    run = replace(begin(problem, np.zeros(problem.dim)), j=skip)
    while run.j < most + skip:
        ahead = lower_step(problem, run, rule, enough=enough)
        done, run = ahead.j == run.j, ahead
        if done:
            break
    seconds = time.perf_counter() - started
    return {"x": run.x, "g": run.value, "gap": run.gap, "steps": run.j - skip, "seconds": seconds}
