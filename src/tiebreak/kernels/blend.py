"""The update of a gradient by recurrence: twin of ``solvers/gram_loop.py``."""

from __future__ import annotations

from ..arrays import Vector
from .jit import SUMS, jit


@jit(SUMS)
def blend(
    a: Vector, a0: Vector, first: Vector, second: Vector, p1: float, p2: float, gamma: float, y: Vector
) -> tuple[float, float]:
    """With s = a0 + p1 first + p2 second, move a to (1 - gamma) a + gamma s in place; return <s, y> and <a, y>."""
    s_y = a_y = 0.0
    for i in range(a.size):
        s = a0[i] + p1 * first[i] + p2 * second[i]
        new = (1.0 - gamma) * a[i] + gamma * s
        s_y += s * y[i]
        a_y += new * y[i]
        a[i] = new
    return s_y, a_y
