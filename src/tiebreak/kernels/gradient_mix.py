"""A gradient moved towards a mix of known ones, with its products."""

from __future__ import annotations

from ..arrays import Vector
from .registry import SUMS, twin


def blend(
    a: Vector, a0: Vector, first: Vector, second: Vector, p1: float, p2: float, gamma: float, y: Vector
) -> tuple[float, float]:
    """With s = a0 + p1 first + p2 second, move a to (1 - gamma) a + gamma s in place; return <s, y> and <a, y>."""
    s = p1 * first
    s += a0
    if p2 != 0.0:
        s += p2 * second
    s_y = float(s @ y)
    s *= gamma
    a *= 1.0 - gamma
    a += s
    return s_y, float(a @ y)


@twin(blend, SUMS)
def _blend(
    a: Vector, a0: Vector, first: Vector, second: Vector, p1: float, p2: float, gamma: float, y: Vector
) -> tuple[float, float]:
    s_y = a_y = 0.0
    for i in range(a.size):
        s = a0[i] + p1 * first[i] + p2 * second[i]
        new = (1.0 - gamma) * a[i] + gamma * s
        s_y += s * y[i]
        a_y += new * y[i]
        a[i] = new
    return s_y, a_y
