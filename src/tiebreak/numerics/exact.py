"""Numbers with as many binary digits as sums and products need: arrays of whole numbers with one exponent.

Sums, differences and products are exact. ``trimmed`` rounds to digits that are asked for, ``double`` to the nearest
doubles (within a unit in the last place).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from .extended import Ext, dense

Whole: TypeAlias = Any  # an object array of Python integers


class Exact:
    """The array ``whole`` / 2**``digits``."""

    __slots__ = ("digits", "whole")
    __array_ufunc__ = None  # NumPy leaves products with arrays to this class

    def __init__(self, whole: Whole, digits: int) -> None:
        self.whole: Whole = np.asarray(whole, dtype=object)
        self.digits = digits

    @classmethod
    def of(cls, values: Any) -> Exact:
        """The same numbers: doubles or long doubles, an array or a single one."""
        if isinstance(values, Exact):
            return values
        array = np.asarray(dense(values) if sp.issparse(values) else values)
        if not array.size:
            return cls(np.zeros(array.shape, dtype=object), 0)
        fraction, exponent = np.frexp(array)
        places = 53 if array.dtype == np.float64 else np.finfo(array.dtype).nmant + 2
        parts, rest, done = np.zeros(array.shape, dtype=object), fraction, 0
        while done < places:  # pieces of 30 bits, so that no conversion goes through more than an int64
            rest = np.ldexp(rest, 30)
            piece = np.trunc(rest)
            rest = rest - piece
            parts = parts * (1 << 30) + piece.astype(np.int64).astype(object)
            done += 30
        nonzero = fraction != 0
        low = int(exponent[nonzero].min()) if nonzero.any() else 0
        shifts = np.where(nonzero, exponent - low, 0)
        whole = parts * np.array([1 << int(k) for k in shifts.ravel()], dtype=object).reshape(array.shape)
        return cls(whole, done - low)._reduced()

    def _reduced(self) -> Exact:
        """Without zeros at the end that all have."""
        bits = 0
        for value in self.whole.ravel():
            bits |= int(value)
            if bits & 1:
                return self
        if not bits:
            return Exact(self.whole * 0, 0)
        shift = (bits & -bits).bit_length() - 1
        return Exact(self.whole // (1 << shift), self.digits - shift)

    def at(self, digits: int) -> Whole:
        """The whole numbers for more digits."""
        return self.whole * (1 << (digits - self.digits)) if digits > self.digits else self.whole

    def _aligned(self, other: Any) -> tuple[Whole, Whole, int]:
        other = Exact.of(other)
        digits = max(self.digits, other.digits)
        return self.at(digits), other.at(digits), digits

    def __add__(self, other: Any) -> Exact:
        left, right, digits = self._aligned(other)
        return Exact(left + right, digits)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Exact:
        left, right, digits = self._aligned(other)
        return Exact(left - right, digits)

    def __rsub__(self, other: Any) -> Exact:
        return Exact.of(other) - self

    def __neg__(self) -> Exact:
        return Exact(-self.whole, self.digits)

    def __mul__(self, other: Any) -> Exact:
        other = Exact.of(other)
        return Exact(self.whole * other.whole, self.digits + other.digits)

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Exact:
        other = Exact.of(other)
        if not self.whole.shape[-1]:
            shape = (*self.whole.shape[:-1], *other.whole.shape[1:])
            return Exact(np.zeros(shape, dtype=object), 0)
        return Exact(self.whole @ other.whole, self.digits + other.digits)

    def __rmatmul__(self, other: Any) -> Exact:
        return Exact.of(other) @ self

    def __getitem__(self, where: Any) -> Exact:
        return Exact(self.whole[where], self.digits)

    @property
    def T(self) -> Exact:
        """Transposed."""
        return Exact(self.whole.T, self.digits)

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.whole.size)

    def trimmed(self, digits: int) -> Exact:
        """Rounded down to so many binary digits after the point."""
        return self if digits >= self.digits else Exact(self.whole // (1 << (self.digits - digits)), digits)

    def double(self) -> Vector:
        """The nearest doubles, but for a unit in the last place."""
        flat = [_double(int(value), self.digits) for value in self.whole.ravel()]
        return np.array(flat, dtype=np.float64).reshape(self.whole.shape)

    def extended(self) -> Ext:
        """In extended precision, as near as that."""
        high = self.double()
        low = (self - high).double()
        return np.asarray(high, dtype=np.longdouble) + np.asarray(low, dtype=np.longdouble)

    def above(self) -> float:
        """A double that is at least a single number."""
        return float(np.nextafter(self.double(), np.inf)) if self.whole.any() else 0.0

    def below(self) -> float:
        """A double that is at most a single number."""
        return float(np.nextafter(self.double(), -np.inf)) if self.whole.any() else 0.0


def joined(parts: list[Exact]) -> Exact:
    """One vector after the other."""
    digits = max((part.digits for part in parts), default=0)
    return Exact(np.concatenate([np.zeros(0, dtype=object), *(part.at(digits) for part in parts)]), digits)


def _double(value: int, digits: int) -> float:
    size = value.bit_length()
    if size > 64:  # more than a double tells
        value >>= size - 64
        digits -= size - 64
    try:
        return float(np.ldexp(np.float64(value), -digits)) if abs(digits) < 1000 else value * 2.0**-digits
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def root(value: int) -> int:
    """At least the square root of a whole number, by less than one too much."""
    from math import isqrt

    found = isqrt(value)
    return found if found * found == value else found + 1


def is_definite(S: Whole) -> bool:
    """Whether a symmetric matrix of whole numbers is positive definite: its leading minors, by exact elimination."""
    S, n, before = S.copy(), len(S), 1
    for k in range(n):
        pivot = int(S[k, k])
        if pivot <= 0:
            return False
        if k + 1 < n:
            rest = S[k + 1 :, k + 1 :] * pivot - np.outer(S[k + 1 :, k], S[k, k + 1 :])
            S[k + 1 :, k + 1 :] = rest // before
        before = pivot
    return True
