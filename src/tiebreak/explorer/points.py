"""Points of the trade-off curve, closest together where its bracket between them is widest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Vector
from ..kernels import clock
from ..problem import Problem
from ..result import Result
from ..solve import Method, solve
from ..tradeoff import Tradeoff, curve_of, tradeoff

NARROW = 1e-6
"""A gap between two points below this part of the range of f is not seen."""


@dataclass(frozen=True)
class Explored:
    """The answer without slack, and the curve with it."""

    problem: Problem
    strict: Result
    curve: Tradeoff


def explored(
    problem: Problem,
    method: Method,
    slacks: Sequence[float] | Vector | None,
    points: int,
    max_time: float,
    options: dict[str, Any],
) -> Explored:
    """A first curve within half of the time; then one point more at a time, until there are enough or time is over."""
    ends = clock() + max_time
    strict = solve(problem.with_slack(0.0), method, max_time=_limit(max_time / 4), **options)
    curve = tradeoff(problem, slacks, method, max_time=_limit(max_time / 2), **options)
    while len(curve.slacks) < points and (left := ends - clock()) > 0:
        slack = next_slack(curve)
        if slack is None:
            break
        more = tradeoff(problem, [slack], method, max_time=_limit(left), **options)
        order = np.argsort(np.append(curve.slacks, slack))
        results = [[*curve.results, *more.results][k] for k in order]
        curve = curve_of(np.append(curve.slacks, slack)[order], results)
    return Explored(problem, strict, curve)


def _limit(seconds: float) -> float | None:
    return seconds if np.isfinite(seconds) else None


def next_slack(curve: Tradeoff) -> float | None:
    """Where the bracket between two neighbours is widest: there the lines of their prices meet.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> curve = tb.tradeoff(problem, slacks=[0.01, 0.02, 0.32])
    >>> 0.02 < next_slack(curve) < 0.32
    True
    """
    s, low, high, price = curve.slacks, curve.f_lower, curve.f_upper, curve.multipliers
    best, place = NARROW * float(np.ptp(curve.f)), None
    for i in range(len(s) - 1):
        if not np.isfinite([low[i], low[i + 1], high[i], high[i + 1], price[i], price[i + 1]]).all():
            continue
        steeper = price[i] - price[i + 1]
        meet = (low[i] - low[i + 1] + price[i] * s[i] - price[i + 1] * s[i + 1]) / steeper if steeper > 0 else np.nan
        if not s[i] < meet < s[i + 1]:
            meet = float(np.sqrt(s[i] * s[i + 1]))
        share = (meet - s[i]) / (s[i + 1] - s[i])
        chord = (1 - share) * high[i] + share * high[i + 1]
        line = max(low[i] - price[i] * (meet - s[i]), low[i + 1] - price[i + 1] * (meet - s[i + 1]), low[i + 1])
        if chord - line > best and s[i] * (1 + 1e-6) < meet < s[i + 1] * (1 - 1e-6):
            best, place = chord - line, float(meet)
    return place
