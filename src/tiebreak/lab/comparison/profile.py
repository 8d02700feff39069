"""Performance profiles (E. D. Dolan, J. J. Moré, Mathematical Programming 91, 2002)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Costs = Mapping[str, Sequence[float]]
"""The cost of each method on each problem, in the same order; infinite where it failed."""


def ratios(costs: Costs) -> dict[str, list[float]]:
    """Each cost over the least one of any method on that problem; infinite where it failed.

    Examples
    --------
    >>> ratios({"a": [1.0, 4.0], "b": [2.0, float("inf")]})
    {'a': [1.0, 1.0], 'b': [2.0, inf]}
    """
    best = [min(column) for column in zip(*costs.values(), strict=True)]
    return {
        name: [cost / least if math.isfinite(cost) else math.inf for cost, least in zip(row, best, strict=True)]
        for name, row in costs.items()
    }


def profile(costs: Costs) -> dict[str, tuple[list[float], list[float]]]:
    """For each method the steps of rho(tau): the share of problems on which its ratio is at most tau.

    Examples
    --------
    >>> profile({"a": [1.0, 4.0], "b": [2.0, float("inf")]})
    {'a': ([1.0], [1.0]), 'b': ([2.0], [0.5])}
    """
    steps = {}
    for name, row in ratios(costs).items():
        reached = sorted(ratio for ratio in row if math.isfinite(ratio))
        taus = sorted(set(reached))
        steps[name] = (taus, [sum(ratio <= tau for ratio in reached) / len(row) for tau in taus])
    return steps


def area(costs: Costs, largest: float = 1e4) -> dict[str, float]:
    """The area under each profile over log(tau) in [0, log(largest)], as a share of the whole: one number to rank by.

    Examples
    --------
    >>> area({"a": [1.0], "b": [100.0]})
    {'a': 1.0, 'b': 0.5}
    """
    whole = math.log(largest)
    return {
        name: sum(1 - math.log(min(ratio, largest)) / whole for ratio in row) / len(row)
        for name, row in ratios(costs).items()
    }
