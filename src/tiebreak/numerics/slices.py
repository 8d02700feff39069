"""Products of tall blocks with vectors, exact but for what is far below any rounding: sums of slices of 20 bits.

With columns in units that make their largest entry 1, an entry is the sum of three multiples of 2^-20, 2^-40 and 2^-60
of 21 bits each, and a rest below 2^-61. So is an entry of a vector. Up to 2^11 products of two slices add up to 53 bits
at most: ordinary matrix products of slices have no rounding at all, in whatever order they add (Ozaki et al. 2012).

References
----------
K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, Error-free transformations of matrix multiplication, Numerical Algorithms 59
(2012).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Vector
from .extended import UNIT, Ext
from .rows import power_of_two

MOST = 2048
"""Rows and columns of a block."""
BITS = 20
LOST = 2.0**-98
"""Of the largest product that is added up, for each of the terms: rounding of what involves a rest."""
COUNT = 4


class Twice(NamedTuple):
    """A sum of two numbers in extended precision, the second below the rounding of the first."""

    high: Any
    low: Any

    def __add__(self, other: object) -> Twice:
        assert isinstance(other, Twice)
        return _normal(*_two_sum(self.high, other.high), self.low + other.low)

    @classmethod
    def zeros(cls, size: int) -> Twice:
        """As many zeros."""
        return cls(np.zeros(size, dtype=np.longdouble), np.zeros(size, dtype=np.longdouble))

    def times(self, factor: np.longdouble) -> Twice:
        """A multiple, off by no more than three units of the precision of a single number, squared, for each entry."""
        product = self.high * factor
        return _normal(product, _product_rest(self.high, factor, product), self.low * factor)


def _normal(high: Any, low: Any, more: Any) -> Twice:
    low = low + more
    total = high + low
    return Twice(total, low - (total - high))


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product_rest(a: Any, b: Any, product: Any) -> Any:
    """a b - product, exactly."""
    split = np.longdouble(2) ** ((np.finfo(np.longdouble).nmant + 2) // 2) + 1
    (a1, a2), (b1, b2) = ((s - (s - v), v - (s - (s - v))) for v in (a, b) for s in (split * v,))
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


class Sliced:
    """A block of rows in slices."""

    def __init__(self, block: Any) -> None:
        assert max(block.shape) <= MOST
        self.shape = block.shape
        self.units = power_of_two(np.abs(block).max(axis=0, initial=0.0))
        self.parts = _parts(block / self.units)

    def times(self, x: Ext) -> tuple[Ext, Vector]:
        """Block times x in extended precision, and bounds on its errors."""
        scaled = x * self.units
        unit = _unit(scaled)
        factors = np.stack(_slices(scaled / unit), axis=1)
        total = np.zeros(self.shape[0], dtype=np.longdouble)
        size = np.zeros(self.shape[0])
        for part in reversed(self.parts):
            for column in reversed((part @ factors).T):
                total += column
                size += np.abs(column)
        lost = LOST * self.shape[1] + 2 * COUNT**2 * UNIT * size
        return total * np.longdouble(unit), np.asarray(lost * unit)

    def transpose_times(self, u: Ext) -> tuple[Twice, Vector]:
        """The transpose times u, in twice the precision, and bounds on its errors."""
        unit = _unit(u)
        factors = np.stack(_slices(u / unit), axis=1)
        products = [part.T @ factors for part in self.parts]
        total = Twice.zeros(self.shape[1])
        for level in reversed(range(2 * COUNT - 1)):
            for i in range(max(0, level - COUNT + 1), min(level, COUNT - 1) + 1):
                total = total + Twice(products[i][:, level - i].astype(np.longdouble), np.longdouble(0))
        scale = self.units * unit
        return Twice(total.high * scale, total.low * scale), LOST * self.shape[0] * scale


def _unit(values: Ext) -> float:
    """A power of two above all sizes."""
    largest = np.nextafter(np.abs(values).max(initial=0.0).astype(np.float64), np.inf)
    return float(power_of_two(np.array([largest]))[0]) if values.any() else 1.0


def _parts(values: Any) -> list[Any]:
    """The slices of numbers of size at most 1, and the rest."""
    found = []
    for k in (1, 2, 3):
        shift = 1.5 * 2.0 ** (52 - BITS * k)
        part = (values + shift) - shift
        values = values - part
        found.append(part)
    return [*found, values]


def _slices(values: Ext) -> list[Vector]:
    """The same of numbers in extended precision, as doubles."""
    high = values.astype(np.float64)
    low = (values - high).astype(np.float64)
    found = []
    for k in (1, 2, 3):
        shift = 1.5 * 2.0 ** (52 - BITS * k)
        part = (high + shift) - shift
        rest = high - part
        high, low = _two_sum(rest, low)
        found.append(part)
    return [*found, high + low]
