"""The exponential cone in decimals: margins for certain, and logarithms of exact numbers.

Decimals round logarithms correctly, to as many digits as are asked for; what is computed from a few of them is off by
less than ``DOUBT`` of its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext

import numpy as np

from ..arrays import Vector
from .exact import Exact
from .extended import Ext

DIGITS = 60
DOUBT = Decimal("1e-52")
BITS = 190
"""Binary digits after the point that logarithms are kept to."""

NEAR = Decimal("1e-8")
"""Margins below this, relative to the size of the vector, are found by Newton's method."""

SETTLED = Decimal("1e-25")
"""A Newton step below this, relative to the size of the vector, is the last."""

NEWTON_STEPS = 6
FALLS = 60
"""So often a margin that does not hold is lowered, twice as far each time."""

Triple = tuple[Decimal, Decimal, Decimal]
Excess = Callable[[Triple], tuple[Decimal, Triple] | None]


def margin(s: Ext | Exact, unit: Vector, about: Callable[[], float]) -> float:
    """A t with s - t unit in the cone; ``about`` is what double precision finds, where it is not near zero."""
    return _sharp(s, unit, about, _excess)


def dual_margin(z: Ext | Exact, unit: Vector, about: Callable[[], float]) -> float:
    """The same in the dual cone."""
    return _sharp(z, unit, about, _dual_excess)


def log_ratio(above: Exact, below: Exact) -> Exact:
    """The logarithm of a quotient of two positive numbers."""
    with localcontext(Context(prec=DIGITS)):
        value = (_decimal(above) / _decimal(below)).ln()
        return Exact(np.array(int((value * 2**BITS).to_integral_value()), dtype=object), BITS)


def _excess(s: Triple) -> tuple[Decimal, Triple] | None:
    """y log(z / y) - x, not negative inside, and its derivatives; None where y or z is not positive."""
    x, y, z = s
    if y <= 0 or z <= 0:
        return None
    log = (z / y).ln()
    return y * log - x, (Decimal(-1), log - 1, y / z)


def _dual_excess(z: Triple) -> tuple[Decimal, Triple] | None:
    """v - u (1 + log(-w / u)), not negative inside, and its derivatives."""
    u, v, w = z
    if u >= 0 or w <= 0:
        return None
    log = (w / -u).ln()
    return v - u * (1 + log), (-log, Decimal(1), -u / w)


def _sharp(s: Ext | Exact, unit: Vector, about: Callable[[], float], excess: Excess) -> float:
    exact = Exact.of(s)
    double = exact.double()
    size = float(np.linalg.norm(double))
    if not np.isfinite(size) or size == 0.0:
        return about()
    with localcontext(Context(prec=DIGITS)):
        first, second, third = (_decimal(exact[i]) for i in range(3))
        e = [Decimal(float(one)) for one in unit]

        def shifted(t: Decimal) -> Triple:
            return first - t * e[0], second - t * e[1], third - t * e[2]

        def inside(t: Decimal) -> bool:
            here = shifted(t)
            found = excess(here)
            return found is not None and found[0] > DOUBT * (abs(found[0]) + _terms(here, found[1]))

        t = _newton(shifted, e, excess, Decimal(size))
        if t is not None:
            low = t - abs(t) * Decimal("1e-20") - Decimal(size) * Decimal("1e-46")
            if inside(low):
                return _below(low)
        step = Decimal(size) * Decimal("1e-15")
        low = Decimal(about())
        for _ in range(FALLS):
            if inside(low):
                return _below(low)
            low, step = low - step, 2 * step
    return -np.inf


def _newton(
    shifted: Callable[[Decimal], Triple], e: Sequence[Decimal], excess: Excess, size: Decimal
) -> Decimal | None:
    """Where the excess vanishes, from t = 0; None where that is not near."""
    t = Decimal(0)
    for _ in range(NEWTON_STEPS):
        found = excess(shifted(t))
        if found is None:
            return None
        slope = sum((one * d for one, d in zip(e, found[1], strict=True)), Decimal(0))
        if slope <= 0:
            return None
        step = found[0] / slope
        t += step
        if abs(t) > NEAR * size:
            return None
        if abs(step) <= SETTLED * size:
            return t
    return None


def _terms(s: Triple, slopes: Triple) -> Decimal:
    """The sizes of what the excess is added up from."""
    return sum((abs(one * d) for one, d in zip(s, slopes, strict=True)), Decimal(0)) + sum(map(abs, s), Decimal(0))


def _decimal(one: Exact) -> Decimal:
    whole = int(one.whole.item() if isinstance(one.whole, np.ndarray) else one.whole)
    return Decimal(whole) / Decimal(2) ** one.digits


def _below(t: Decimal) -> float:
    return float(np.nextafter(float(t), -np.inf))
