"""Cones, with what proofs and Newton's method ask of them: margins, Jordan products, the face that a multiplier leaves.

A vector s of a cone and a vector z of its dual go with the Euclidean inner product. ``unit`` is a vector e inside both;
the *margin* of s is a t with s - t e in the cone, for certain: rounding is given away. It is negative outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .extended import UNIT, Ext, double, ext

SQRT2 = np.sqrt(np.longdouble(2))


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
    """Whether it is its own dual with a Jordan product: then Newton's method and faces apply."""

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
    def margin(self, s: Ext) -> float:
        """A t for which s - t e is in the cone."""

    def dual_margin(self, z: Ext) -> float:
        """The same in the dual cone."""
        return self.margin(z)

    def sum_margin(self, s: Ext, z: Ext) -> float:
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
    def circ(self, s: Ext, z: Ext) -> Ext:
        """s o z in extended precision; no entry is off by more than (size + 8) ``UNIT`` |s| |z| ``bend``."""

    def arrow_dual(self, z: Vector) -> Matrix:
        """The matrix of s -> s o z."""
        return self.arrow(z)

    @abstractmethod
    def part(self, z: Vector, least: float) -> Part:
        """What z leaves, where its eigenvalues up to ``least`` count as zero."""


class Nonnegative(Cone):
    """Vectors without a negative entry."""

    thick, long, bend = 1.0, 1.0, 1.0

    @property
    def named(self) -> tuple[str, float]:
        return "nonnegative", self.size

    def margin(self, s: Ext) -> float:
        return _down(float(s.min(initial=np.inf)))

    def arrow(self, s: Vector) -> Matrix:
        return np.diag(s)

    def circ(self, s: Ext, z: Ext) -> Ext:
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

    def margin(self, s: Ext) -> float:
        tail = _norm(s[1:])
        return _down(float(s[0] - tail) - (self.size + 4) * UNIT * float(abs(s[0]) + tail))

    def arrow(self, s: Vector) -> Matrix:
        L = s[0] * np.eye(self.size)
        L[0, 1:] = L[1:, 0] = s[1:]
        return L

    def circ(self, s: Ext, z: Ext) -> Ext:
        return np.concatenate([[np.add.reduce(s * z)], s[0] * z[1:] + z[0] * s[1:]])

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

    @property
    def named(self) -> tuple[str, float]:
        return "semidefinite" if self.scaled else "triangle", self.order

    @cached_property
    def unit(self) -> Vector:
        return np.where(self._columns == self._rows, 1.0, 0.0)

    def matrix(self, s: Ext) -> Ext:
        """The matrix of a vector of the cone."""
        return self._square(s * self._primal)

    def dual_matrix(self, z: Ext) -> Ext:
        """The matrix Z with <z, s> = tr Z S."""
        return self._square(z * self._dual)

    def vector(self, S: Matrix) -> Vector:
        """The vector of a matrix."""
        return double(S[self._rows, self._columns] / self._primal)

    def dual_vector(self, Z: Matrix) -> Vector:
        """The vector z with <z, s> = tr Z S."""
        return double(Z[self._rows, self._columns] / self._dual)

    def _square(self, entries: Ext) -> Ext:
        S = np.zeros((self.order, self.order), dtype=entries.dtype)
        S[self._rows, self._columns] = S[self._columns, self._rows] = entries
        return S

    def margin(self, s: Ext) -> float:
        return least_eigenvalue(self.matrix(ext(s)))

    def dual_margin(self, z: Ext) -> float:
        return least_eigenvalue(self.dual_matrix(ext(z)))

    def sum_margin(self, s: Ext, z: Ext) -> float:
        return least_eigenvalue(self.matrix(ext(s)) + self.dual_matrix(ext(z)))

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

    def circ(self, s: Ext, z: Ext) -> Ext:
        S, Z = self.matrix(s), self.dual_matrix(z)
        whole = (S @ Z + Z @ S) / 2
        return np.asarray(whole[self._rows, self._columns])

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


class Nonsymmetric(Cone):
    """A cone that is not its own dual: its margins are found by bisection, in double precision."""

    symmetric = False
    thick = 1 / 0.3

    def __init__(self) -> None:
        super().__init__(3)

    long = 1 / 0.3

    def margin(self, s: Ext) -> float:
        return self._bisected(double(ext(s)), self.holds)

    def dual_margin(self, z: Ext) -> float:
        return self._bisected(double(ext(z)), self.dual_holds)

    def _bisected(self, s: Vector, holds) -> float:  # type: ignore[no-untyped-def]
        size = float(np.linalg.norm(s)) or 1.0
        low, high = -self.thick * size * 1.01, self.thick * size * 1.01
        while high - low > 1e-15 * size and low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if holds(s - middle * self.unit) else (low, middle)
        return low - 1e-14 * size

    @abstractmethod
    def holds(self, s: Vector) -> bool:
        """Whether s is in the cone."""

    @abstractmethod
    def dual_holds(self, z: Vector) -> bool:
        """Whether z is in the dual cone."""

    def arrow(self, s: Vector) -> Matrix:
        raise NotImplementedError("there is no Jordan product for this cone")

    def circ(self, s: Ext, z: Ext) -> Ext:
        raise NotImplementedError("there is no Jordan product for this cone")

    def part(self, z: Vector, least: float) -> Part:
        raise NotImplementedError("the faces of this cone are not known here")


class Exponential(Nonsymmetric):
    """Vectors (x, y, z) with y exp(x / y) <= z and y > 0, and their limits."""

    @property
    def named(self) -> tuple[str, float]:
        return "exponential", 3

    @cached_property
    def unit(self) -> Vector:
        return np.array([-1.051383, 0.556409, 1.258967])

    def holds(self, s: Vector) -> bool:
        x, y, z = s
        if y <= 0:
            return bool(y == 0 and x <= 0 and z >= 0)
        return bool(z > 0 and x <= y * np.log(z / y))

    def dual_holds(self, z: Vector) -> bool:
        u, v, w = z
        if u >= 0:
            return bool(u == 0 and v >= 0 and w >= 0)
        return bool(w > 0 and v >= u * (1 + np.log(w / -u)))


class Power(Nonsymmetric):
    """Vectors (x, y, z) with x^a y^(1 - a) >= |z| and x, y >= 0."""

    def __init__(self, exponent: float) -> None:
        super().__init__()
        self.exponent = exponent

    @property
    def named(self) -> tuple[str, float]:
        return "power", self.exponent

    @cached_property
    def unit(self) -> Vector:
        return np.array([1.0, 1.0, 0.0])

    def holds(self, s: Vector) -> bool:
        x, y, z = s
        a = self.exponent
        return bool(x >= 0 and y >= 0 and x**a * y ** (1 - a) >= abs(z))

    def dual_holds(self, z: Vector) -> bool:
        a = self.exponent
        return self.holds(np.array([z[0] / a, z[1] / (1 - a), z[2]]))


def least_eigenvalue(S: Ext) -> float:
    """At most the least eigenvalue of a symmetric matrix: to the last digits of extended precision near zero."""
    n = len(S)
    if not n:
        return np.inf
    rounded = double(S)
    size = float(np.linalg.norm(rounded)) * (1 + 1e-12)
    error = (4 * n + 2) * UNIT_ROUNDOFF * size
    low = float(np.linalg.eigvalsh(rounded)[0]) - error
    if low > error or not size:
        return _down(low)
    shift = (n + 4) * UNIT * size
    while shift < -low:
        if _factorises(S + np.longdouble(shift) * np.eye(n)):
            return float(-shift - 4 * (n + 4) * UNIT * np.sqrt(n) * size)
        shift *= 8
    return _down(low)


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
