"""Cones, with what proofs and Newton's method ask of them: margins, Jordan products, the face that a multiplier leaves.

A vector s of a cone and a vector z of its dual go with the Euclidean inner product. ``unit`` is a vector e inside both;
the *margin* of s is a t with s - t e in the cone, for certain: rounding is given away. It is negative outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .exact import Exact, is_definite, joined, root
from .extended import UNIT, Ext, double, ext

SQRT2 = np.sqrt(np.longdouble(2))
ROOT_DIGITS = 400
HALF_ROOT = isqrt(1 << (2 * ROOT_DIGITS - 1))
"""1 / sqrt(2) times 2**``ROOT_DIGITS``, rounded down."""

MOST_EXACT = 40
"""Order of matrices up to which elimination is exact."""

TINY, LARGE = 1e-250, 1e250
"""Matrices below and above count as nothing but their size."""

FINEST = 200
"""Binary digits below the size of a matrix to which a least eigenvalue near zero is found."""


class Part(NamedTuple):
    """What is left of a cone where a multiplier z holds <z, s> = 0: T s is in ``cones``, and E s = 0.

    The eigenvalues of z that count as zero are at most ``zero``, the others at least ``positive``.
    """

    cones: tuple[Cone, ...]
    T: Matrix
    E: Matrix
    zero: float
    positive: float


class Cone(ABC):
    """A closed convex cone of vectors with ``size`` entries."""

    symmetric = True
    """Whether it is its own dual with a Jordan product: then Newton's method is that of a quadratic function."""

    chains = True
    """Whether ``part``, ``circ`` and ``slopes`` are known, which levels over it need."""

    sharp = True
    """Whether margins are shown without doubt, rounding included."""

    thick = float(SQRT2) * (1 + 1e-15)
    """A vector of length one is at least -thick times the unit, in the cone and in its dual."""

    long = 1.0 + 1e-15
    """No s of the cone is longer than this times <e, s>."""

    bend = 1.5
    """|s o z| <= bend |s| |z|."""

    def __init__(self, size: int) -> None:
        self.size = size

    @cached_property
    def unit(self) -> Vector:
        """A vector inside the cone and its dual."""
        return np.ones(self.size)

    @abstractmethod
    def margin(self, s: Ext | Exact) -> float:
        """A t for which s - t e is in the cone."""

    def dual_margin(self, z: Ext | Exact) -> float:
        """The same in the dual cone."""
        return self.margin(z)

    def sum_margin(self, s: Ext | Exact, z: Ext | Exact) -> float:
        """The margin of s + z, as elements of the algebra."""
        return self.margin(s + z)

    @property
    @abstractmethod
    def named(self) -> tuple[str, float]:
        """Its name and size, for solvers."""

    @abstractmethod
    def arrow(self, s: Vector) -> Matrix:
        """The matrix of z -> s o z."""

    @abstractmethod
    def circ(self, s: Exact, z: Exact) -> Exact:
        """s o z."""

    def arrow_dual(self, z: Vector) -> Matrix:
        """The matrix of s -> s o z."""
        return self.arrow(z)

    def slopes(self, s: Vector, z: Vector) -> tuple[Matrix, Matrix]:
        """The derivatives of s o z in s and in z."""
        return self.arrow_dual(z), self.arrow(s)

    @abstractmethod
    def part(self, z: Vector, least: float) -> Part:
        """What z leaves, where its eigenvalues up to ``least`` count as zero."""

    def flat(self, s: Vector, fixed: NDArray[np.bool_]) -> Part | None:
        """A smaller cone for slacks of which some are fixed at s, where these leave the cone no inside; else None."""
        return None


class Nonnegative(Cone):
    """Vectors without a negative entry."""

    thick, long, bend = 1.0, 1.0, 1.0

    @property
    def named(self) -> tuple[str, float]:
        return "nonnegative", self.size

    def margin(self, s: Ext | Exact) -> float:
        if isinstance(s, Exact):
            return Exact(min(s.whole), s.digits).below() if s.size else np.inf
        return _down(float(s.min(initial=np.inf)))

    def arrow(self, s: Vector) -> Matrix:
        return np.diag(s)

    def circ(self, s: Exact, z: Exact) -> Exact:
        return s * z

    def part(self, z: Vector, least: float) -> Part:
        held, identity = z > least, np.eye(self.size)
        left = (Nonnegative(int((~held).sum())),) if not held.all() else ()
        return Part(left, identity[~held], identity[held], *_ends(z[~held], z[held]))


class SecondOrder(Cone):
    """Vectors (t, y) with t >= |y|."""

    long = float(SQRT2) * (1 + 1e-15)

    @property
    def named(self) -> tuple[str, float]:
        return "second-order", self.size

    @cached_property
    def unit(self) -> Vector:
        e = np.zeros(self.size)
        e[0] = 1.0
        return e

    def margin(self, s: Ext | Exact) -> float:
        if isinstance(s, Exact):
            more = max(0, 200 - s.digits)  # so that a root rounded up costs nothing to speak of
            whole = s.at(s.digits + more)
            return Exact(whole[0] - root(int(sum(v * v for v in whole[1:]))), s.digits + more).below()
        tail = _norm(s[1:])
        return _down(float(s[0] - tail) - (self.size + 4) * UNIT * float(abs(s[0]) + tail))

    def arrow(self, s: Vector) -> Matrix:
        L = s[0] * np.eye(self.size)
        L[0, 1:] = L[1:, 0] = s[1:]
        return L

    def circ(self, s: Exact, z: Exact) -> Exact:
        return joined([(s @ z)[None], s[0] * z[1:] + z[0] * s[1:]])

    def part(self, z: Vector, least: float) -> Part:
        tail = float(np.linalg.norm(z[1:]))
        low, high = z[0] - tail, z[0] + tail
        identity = np.eye(self.size)
        if high <= least:
            return Part((self,), identity, identity[:0], high, np.inf)
        if low > least or self.size == 1:
            return Part((), identity[:0], identity, -np.inf, low)
        rows = np.column_stack([z[1:] / tail, identity[1:, 1:]])
        return Part((Nonnegative(1),), identity[:1], rows, low, high)


class Semidefinite(Cone):
    """Symmetric positive semidefinite matrices by their upper triangles, column by column.

    What is off the diagonal is times sqrt(2) where ``scaled``, as Clarabel has it; else as it is.
    """

    def __init__(self, order: int, scaled: bool = True) -> None:
        super().__init__(order * (order + 1) // 2)
        self.order, self.scaled = order, scaled
        self._columns, self._rows = np.tril_indices(order)  # (row, column) of the upper triangle, column by column
        apart = self._columns != self._rows
        off = 1 / SQRT2 if scaled else np.longdouble(1)
        self._primal = np.where(apart, off, np.longdouble(1))
        self._dual = np.where(apart, 1 / SQRT2 if scaled else np.longdouble(0.5), np.longdouble(1))
        self._apart = apart

    @property
    def named(self) -> tuple[str, float]:
        return "semidefinite" if self.scaled else "triangle", self.order

    @cached_property
    def unit(self) -> Vector:
        return np.where(self._columns == self._rows, 1.0, 0.0)

    def matrix(self, s: Any) -> Any:
        """The matrix of a vector of the cone, in the same kind of numbers."""
        return self._square(s * (self._factors(True) if isinstance(s, Exact) else self._primal))

    def dual_matrix(self, z: Any) -> Any:
        """The matrix Z with <z, s> = tr Z S."""
        return self._square(z * (self._factors(False) if isinstance(z, Exact) else self._dual))

    def _factors(self, primal: bool) -> Exact:
        """What entries off the diagonal are multiplied by; 1 / sqrt(2) to ``ROOT_DIGITS``."""
        off = HALF_ROOT if self.scaled else 1 << (ROOT_DIGITS if primal else ROOT_DIGITS - 1)
        return Exact([off if apart else 1 << ROOT_DIGITS for apart in self._apart], ROOT_DIGITS)

    def vector(self, S: Matrix) -> Vector:
        """The vector of a matrix."""
        return double(S[self._rows, self._columns] / self._primal)

    def dual_vector(self, Z: Matrix) -> Vector:
        """The vector z with <z, s> = tr Z S."""
        return double(Z[self._rows, self._columns] / self._dual)

    def _square(self, entries: Any) -> Any:
        if isinstance(entries, Exact):
            return Exact(self._square(entries.whole), entries.digits)
        S = np.zeros((self.order, self.order), dtype=entries.dtype)
        S[self._rows, self._columns] = S[self._columns, self._rows] = entries
        return S

    def margin(self, s: Ext | Exact) -> float:
        return least_eigenvalue(self.matrix(s))

    def dual_margin(self, z: Ext | Exact) -> float:
        return least_eigenvalue(self.dual_matrix(z))

    def sum_margin(self, s: Ext | Exact, z: Ext | Exact) -> float:
        return least_eigenvalue(self.matrix(s) + self.dual_matrix(z))

    def arrow(self, s: Vector) -> Matrix:
        return self._product_matrix(double(self.matrix(ext(s))), self._dual)

    def arrow_dual(self, z: Vector) -> Matrix:
        return self._product_matrix(double(self.dual_matrix(ext(z))), self._primal)

    def _product_matrix(self, S: Matrix, scale: Ext) -> Matrix:
        """The matrix of the entries of (S Z + Z S) / 2 in those of Z, which are ``scale`` times a vector."""
        n = self.order
        identity = np.eye(n)
        # d (S Z)_ij / d Z_kl = S_ik [l = j], for Z = Z' both (k, l) and (l, k) count
        whole = np.einsum("ik,lj->ijkl", S, identity)
        whole = (whole + whole.transpose(1, 0, 2, 3)) / 2
        whole = whole + np.where(np.eye(n, dtype=bool), 0.0, whole.transpose(0, 1, 3, 2))
        rows, columns = self._rows, self._columns
        return np.asarray(whole[rows[:, None], columns[:, None], rows, columns] * double(scale))

    def circ(self, s: Exact, z: Exact) -> Exact:
        S, Z = self.matrix(s), self.dual_matrix(z)
        both: Exact = (S @ Z + Z @ S) * 0.5
        return both[self._rows, self._columns]

    def part(self, z: Vector, least: float) -> Part:
        values, vectors = np.linalg.eigh(double(self.dual_matrix(ext(z))))
        left = values <= least
        V, W = vectors[:, left], vectors[:, ~left]
        matrices = double(np.array([self.matrix(ext(row)) for row in np.eye(self.size)]))
        smaller = Semidefinite(V.shape[1]) if V.shape[1] else None
        held = [(W.T @ M @ V).ravel() for M in matrices]
        across = [(W.T @ M @ W)[np.triu_indices(W.shape[1])] for M in matrices]
        E = np.column_stack([np.concatenate(pair) for pair in zip(held, across, strict=True)])
        T = np.column_stack([smaller.vector(V.T @ M @ V) for M in matrices]) if smaller else np.zeros((0, self.size))
        return Part((smaller,) if smaller else (), T, E, *_ends(values[left], values[~left]))


def least_eigenvalue(S: Ext | Exact) -> float:
    """At most the least eigenvalue of a symmetric matrix: near zero, to the last digits that are there."""
    n = len(S.whole) if isinstance(S, Exact) else len(S)
    if not n:
        return np.inf
    rounded = S.double() if isinstance(S, Exact) else double(S)
    size = n * float(np.abs(rounded).max())  # at least its length
    if not size < LARGE:
        return -np.inf
    if size < TINY:  # no eigenvalue is larger than that; below, doubles lose their digits
        return -2 * size - TINY
    error = (4 * n + 2) * UNIT_ROUNDOFF * size
    low = float(np.linalg.eigvalsh(rounded)[0]) - error
    if not np.isfinite(low):
        return -2 * size
    if low >= 0:
        return _down(low)
    if isinstance(S, Exact) and n <= MOST_EXACT:
        return _exact_shift(S, size, low)
    S = S.extended() if isinstance(S, Exact) else S
    shift = (n + 4) * UNIT * size
    while shift < -low:
        if _factorises(S + np.longdouble(shift) * np.eye(n)):
            return float(-shift - 4 * (n + 4) * UNIT * np.sqrt(n) * size)
        shift *= 8
    return _down(low)


def _exact_shift(S: Exact, size: float, low: float) -> float:
    """Minus a power of two that makes the matrix definite: the least one, or what double precision has shown."""
    top = int(np.ceil(np.log2(-low)))
    bottom = int(np.floor(np.log2(size))) - FINEST
    S = S.trimmed(20 - bottom)  # which moves eigenvalues by n 2^(bottom - 20) at most
    digits = max(S.digits, -bottom)
    whole, diagonal = S.at(digits), np.diag_indices(len(S.whole))

    def definite(power: int) -> bool:
        shifted = whole.copy()
        shifted[diagonal] += 1 << (digits + power)
        return is_definite(shifted)

    while bottom < top:
        middle = (bottom + top) // 2
        bottom, top = (bottom, middle) if definite(middle) else (middle + 1, top)
    return max(-(2.0**top) * (1 + len(S.whole) * 2.0**-18), low)


def _factorises(S: Ext) -> bool:
    """Whether Cholesky's method ends: then S + E is semidefinite for some |E| <= 2 (n + 3) UNIT trace."""
    S = S.copy()
    for k in range(len(S)):
        if not S[k, k] > 0:
            return False
        column = S[k + 1 :, k] / np.sqrt(S[k, k])
        S[k + 1 :, k + 1 :] -= np.outer(column, column)
    return True


def _ends(zero: Vector, positive: Vector) -> tuple[float, float]:
    return float(zero.max(initial=-np.inf)), float(positive.min(initial=np.inf))


def _norm(v: Ext) -> np.longdouble:
    return np.longdouble(np.sqrt(np.add.reduce(v * v)))


def _down(value: float) -> float:
    return float(np.nextafter(value, -np.inf)) if np.isfinite(value) else value
