"""The maximum of a concave function of one positive variable that is known by its values alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

LARGEST = 1e30
GROWTH = 16.0
MOST = 40
"""Evaluations at most; rounding can keep the bound on what is left to gain from falling."""


def maximise_concave(
    value: Callable[[float], float], guesses: Sequence[float], enough: Callable[[float], float]
) -> tuple[float, float]:
    """The best value found over t >= 0, and its t; it ends when no more than ``enough(best)`` is left to gain.

    A concave function lies below the lines through two of its points, outside of the segment between them. On either
    side of the best point so far two such lines meet above the function: there is no more to gain than they say, and
    where they meet is where to look next. Kinks and smooth peaks are both found in a few evaluations.

    Examples
    --------
    >>> best, t = maximise_concave(lambda t: min(t, 6 - 2 * t), [100.0], enough=lambda best: 1e-9)
    >>> round(best, 6), round(t, 6)
    (2.0, 2.0)
    """
    seen = {t: value(t) for t in (0.0, *(guess for guess in guesses if 0 < guess < LARGEST))}
    if len(seen) == 1:
        seen[1.0] = value(1.0)
    while len(seen) < MOST:
        best = max(seen, key=seen.__getitem__)
        if best == max(seen):
            if best >= LARGEST:
                break
            seen[best * GROWTH] = value(best * GROWTH)
            continue
        roof, where = _roof(sorted(seen.items()), best)
        if roof - seen[best] <= enough(seen[best]) or where in seen:
            break
        seen[where] = value(where)
    best = max(seen, key=seen.__getitem__)
    return seen[best], best


def _roof(points: list[tuple[float, float]], best: float) -> tuple[float, float]:
    """The most the function can be beside its best point, and where."""
    middle = next(i for i, (t, _) in enumerate(points) if t == best)
    sides = [_between(points, j) for j in (middle - 1, middle) if j >= 0]
    return max(sides)


def _between(points: list[tuple[float, float]], j: int) -> tuple[float, float]:
    """The same between points j and j + 1, by the lines through the two before and the two after."""
    (p, at_p), (q, at_q) = points[j : j + 2]
    left = _slope(points[j - 1], points[j]) if j > 0 else None
    right = _slope(points[j + 1], points[j + 2]) if j + 2 < len(points) else None
    if left is None and right is None:
        return inf, p + (q - p) / GROWTH
    if left is None or right is None or left <= right:
        slope, base = (left, at_p) if right is None else (right, at_q)
        assert slope is not None
        rise = slope * (q - p) if right is None else -slope * (q - p)
        return base + max(rise, 0.0), p + (q - p) * (0.5 if p > 0 else 1 / GROWTH)
    meet = (at_q - at_p + left * p - right * q) / (left - right)
    margin = 1e-3 * (q - p)
    return at_p + left * (meet - p), min(max(meet, p + margin), q - margin)


def _slope(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])
