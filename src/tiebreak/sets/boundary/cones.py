"""Sets by cones near a point: second-order and semidefinite cones, spectrahedra, nuclear balls."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Vector
from ...numerics.clarabel import rows_of
from .description import NEAR, Array, Boundary, Curved, Place, Source


@dataclass(frozen=True)
class Slacks(Curved):
    """Slacks of a cone; ``place`` is where they are in b, if they are."""

    place: slice | None

    def named(self, ends: Vector, shift: Vector) -> list[tuple[Place, Any]]:
        return [(Place("b", self.place), shift)] if self.place else []


@dataclass(frozen=True)
class Side(Slacks):
    """|s[1:]| = s[0]."""

    def values(self, s: Vector) -> tuple[Array, Vector]:
        length = float(np.linalg.norm(s[1:]))
        return np.append(-1.0, s[1:] / length)[None], np.array([s[0] - length])

    def hessian(self, s: Vector, y: Vector) -> Array:
        length, H = float(np.linalg.norm(s[1:])), np.zeros((s.size, s.size))
        unit = s[1:] / length
        H[1:, 1:] = y[0] / length * (np.eye(s.size - 1) - np.outer(unit, unit))
        return H

    def margin(self, y: Vector) -> float:
        return float(y[0])


@dataclass(frozen=True)
class Apex(Slacks):
    """s = 0."""

    def values(self, s: Vector) -> tuple[Array, Vector]:
        return -np.eye(s.size), s

    def hessian(self, s: Vector, y: Vector) -> Array:
        return np.zeros((s.size, s.size))

    def margin(self, y: Vector) -> float:
        return float(y[0] - np.linalg.norm(y[1:]))


@dataclass(frozen=True)
class Singular(Slacks):
    """Positive semidefinite matrices sum of s_k E_k with ``nullity`` eigenvalues zero; the rows of ``basis`` are E_k.

    With the kernel V fixed, what has to vanish is the Schur complement of the rest: its derivative is V'dS V, its
    second one - 2 V'dS S^+ dS V.
    """

    basis: Array
    nullity: int

    def _parts(self, s: Vector) -> tuple[Array, Vector, Array]:
        order = int(np.sqrt(self.basis.shape[1]))
        values, vectors = np.linalg.eigh((s @ self.basis).reshape(order, order))
        return vectors[:, : self.nullity], values, vectors[:, self.nullity :]

    def values(self, s: Vector) -> tuple[Array, Vector]:
        V, values, _ = self._parts(s)
        pairs = symmetric_basis(self.nullity)
        into = np.kron(V, V) @ pairs.T
        return -(self.basis @ into).T, pairs @ np.diag(values[: self.nullity]).ravel()

    def hessian(self, s: Vector, y: Vector) -> Array:
        V, values, U = self._parts(s)
        priced = V @ self._matrix(y) @ V.T
        inverse = (U / values[self.nullity :]) @ U.T
        return np.asarray(self.basis @ (np.kron(priced, inverse) + np.kron(inverse, priced)) @ self.basis.T)

    def margin(self, y: Vector) -> float:
        return float(np.linalg.eigvalsh(self._matrix(y))[0])

    def _matrix(self, y: Vector) -> Array:
        return np.asarray((y @ symmetric_basis(self.nullity)).reshape(self.nullity, self.nullity))


def symmetric_basis(order: int, off: float = np.sqrt(0.5)) -> Array:
    """Symmetric matrices, flat, one for each entry of the upper triangle column by column; of length one each.

    Examples
    --------
    >>> symmetric_basis(2).round(3).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.707, 0.707, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    found = []
    for j in range(order):
        for i in range(j + 1):
            E = np.zeros((order, order))
            E[i, j] = E[j, i] = 1.0 if i == j else off
            found.append(E.ravel())
    return np.array(found).reshape(len(found), order * order)


def _semidefinite(P: Array, q: Vector, s: Vector, basis: Array, place: slice | None) -> list[Curved]:
    order = int(np.sqrt(basis.shape[1]))
    values = np.linalg.eigvalsh((s @ basis).reshape(order, order))
    nullity = int((values <= NEAR * np.abs(values).max()).sum())
    return [Singular(P, q, place, basis, nullity)] if nullity else []


def near_cones(A: Array, b: Vector, cones: tuple[tuple[str, float], ...], x: Vector) -> Boundary | None:
    """Of {x : b - A x in the cones}; None for exponential and power cones."""
    places = np.cumsum([0, *(rows_of(kind, size) for kind, size in cones)])
    s, size = b - A @ x, np.abs(A) @ np.abs(x) + np.abs(b)
    rows, equal, curved = list[int](), list[bool](), list[Curved]()
    for (kind, order), (start, stop) in zip(cones, pairwise(places), strict=True):
        own, P = slice(int(start), int(stop)), -A[start:stop]
        near = NEAR * float(size[own].max())
        if kind in ("zero", "nonnegative"):
            rows += range(start, stop)
            equal += [kind == "zero"] * (stop - start)
        elif kind == "second-order":
            if np.linalg.norm(s[own]) <= near:
                curved.append(Apex(P, b[own], own))
            elif s[start] - np.linalg.norm(s[start + 1 : stop]) <= near:
                curved.append(Side(P, b[own], own))
        elif kind in ("semidefinite", "triangle"):
            basis = symmetric_basis(int(order), np.sqrt(0.5) if kind == "semidefinite" else 1.0)
            curved += _semidefinite(P, b[own], s[own], basis, own)
        else:
            return None
    flat = A[rows], b[rows], np.array(equal, dtype=bool)
    sources = [Source(Place("b", i)) for i in rows]
    return Boundary(np.eye(x.size), x, *flat, {"b": (b.size,)}, sources, tuple(curved))


def near_spectrahedron(x: Vector, order: int, trace: float) -> Boundary:
    """Of the positive semidefinite matrices of that trace, by their entries in the upper triangle."""
    basis = symmetric_basis(order)
    return _of_trace(basis.T, basis @ x, basis, trace, True, Source(Place("trace")))


def near_nuclear(x: Vector, shape: tuple[int, int], radius: float) -> Boundary:
    """Of a nuclear ball: x is the corner of a positive semidefinite matrix with trace 2 radius."""
    U, values, Vt = np.linalg.svd(x.reshape(shape), full_matrices=False)
    if float(values.sum()) < (1 - NEAR) * radius:
        return Boundary.round(x, {"radius": ()})
    m, order = shape[0], sum(shape)
    basis = symmetric_basis(order)
    whole = np.block([[(U * values) @ U.T, x.reshape(shape)], [x.reshape(shape).T, (Vt.T * values) @ Vt]])
    T = basis.reshape(-1, order, order)[:, :m, m:].reshape(-1, x.size).T
    return _of_trace(T, basis @ whole.ravel(), basis, 2 * radius, False, Source(Place("radius"), 2.0))


def _of_trace(T: Array, X: Vector, basis: Array, trace: float, equal: bool, source: Source) -> Boundary:
    """Of the images of positive semidefinite matrices with a trace."""
    curved = _semidefinite(np.eye(X.size), np.zeros(X.size), X, basis, None)
    row = basis @ np.eye(int(np.sqrt(basis.shape[1]))).ravel()
    assert source.place is not None
    data: dict[str, tuple[int, ...]] = {source.place.name: ()}
    return Boundary(T, X, row[None], np.array([trace]), np.array([equal]), data, [source], tuple(curved))
