"""Prices of the vertices on the coordinate axes, and the columns of those that may enter."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .registry import SUMS, twin
from .small_matrices import mix

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

BLOCK = 512  # rows whose pages the processor can keep track of at once


def gains(c: Vector, lam: float, normal: Vector, extents: Vector, signed: bool) -> Vector:
    """The largest -<c + lam normal, v> over the vertices on each axis."""
    slope = c + lam * normal if lam else c
    return np.asarray(np.abs(slope) * extents if signed else -slope * extents)


@twin(gains)
def _gains(c: Vector, lam: float, normal: Vector, extents: Vector, signed: bool) -> Vector:
    out = np.empty(c.size)
    for j in range(c.size):
        slope = c[j] + lam * normal[j]
        out[j] = extents[j] * (abs(slope) if signed else -slope)
    return out


def short_list(sizes: Vector, height: float, most: int) -> Numbers:
    """The places of the largest entries, at least ``height``, the largest first, of equal ones the first."""
    if height == -np.inf:
        return np.argsort(-sizes, kind="stable")[:most]
    picked = np.flatnonzero(sizes >= height)
    return picked[np.argsort(-sizes[picked], kind="stable")[:most]]


@twin(short_list)
def _short_list(sizes: Vector, height: float, most: int) -> Numbers:
    places = np.empty(min(most, sizes.size), dtype=np.int64)
    count = 0
    for j in range(sizes.size):
        if sizes[j] >= height and (count < places.size or sizes[j] > sizes[places[count - 1]]):
            i = min(count, places.size - 1)
            while i > 0 and sizes[places[i - 1]] < sizes[j]:
                places[i] = places[i - 1]
                i -= 1
            places[i] = j
            count = min(count + 1, places.size)
    return places[:count]


def columns(M: Array, index: Numbers, factor: Vector, shift: Vector, out: Array, first: int) -> None:
    """Columns of M times their factors, less a shift, as rows of ``out`` from its column ``first`` on."""
    out[:, first:] = M.T[index] * factor[:, None] - shift


@twin(columns)
def _columns(M: Array, index: Numbers, factor: Vector, shift: Vector, out: Array, first: int) -> None:
    for start in range(0, M.shape[0], BLOCK):
        for k in range(index.size):
            scale, j = factor[k], index[k]
            for i in range(start, min(start + BLOCK, M.shape[0])):
                out[k, first + i] = scale * M[i, j] - shift[i]


def fresh_codes(code: Numbers, where: Numbers) -> Numbers:
    """Those of the vertices that are in no slot."""
    return np.asarray(code[where[code] < 0])


@twin(fresh_codes)
def _fresh_codes(code: Numbers, where: Numbers) -> Numbers:
    out = np.empty(code.size, dtype=np.int64)
    count = 0
    for i in range(code.size):
        if where[code[i]] < 0:
            out[count] = code[i]
            count += 1
    return out[:count]


def norms(M: Array) -> Vector:
    """The norms of the rows."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", M, M)))


@twin(norms, SUMS)
def _norms(M: Array) -> Vector:
    out = np.empty(M.shape[0])
    for i in range(M.shape[0]):
        total = 0.0
        for j in range(M.shape[1]):
            total += M[i, j] * M[i, j]
        out[i] = math.sqrt(total)
    return out


def bends(G: Array, E: Array, F: Array, order: Numbers) -> Vector:
    """||F - E G||^2 for some of the rows of E and F."""
    moved = F[order] - E[order] @ G
    return np.asarray(np.add.reduce(moved * moved, axis=1))


@twin(bends, SUMS)
def _bends(G: Array, E: Array, F: Array, order: Numbers) -> Vector:
    out = np.zeros(order.size)
    for k in range(order.size):
        row = order[k]
        moved = F[row] - mix(E[row], G, G.shape[1])
        for i in range(moved.size):
            out[k] += moved[i] * moved[i]
    return out


def on_face(
    places: Numbers, c: Vector, lam: float, normal: Vector, extents: Vector, signed: bool, level: float
) -> Numbers:
    """The numbers of the vertices v on these axes with the least <c + lam normal, v>: the first, and of the others
    those with <normal, v> <= level."""
    slope = normal[places] if lam or level < np.inf else 0.0
    minus = (c[places] + lam * slope >= 0) if signed else np.zeros(places.size, dtype=bool)
    codes = places + minus * extents.size
    if level == np.inf:
        return np.asarray(codes)
    kept = np.where(minus, -slope, slope) * extents[places] <= level
    kept[0] = True
    return np.asarray(codes[kept])


@twin(on_face)
def _on_face(
    places: Numbers, c: Vector, lam: float, normal: Vector, extents: Vector, signed: bool, level: float
) -> Numbers:
    out = np.empty(places.size, dtype=np.int64)
    count = 0
    for j in places:
        minus = signed and c[j] + lam * normal[j] >= 0.0
        if count == 0 or (-normal[j] if minus else normal[j]) * extents[j] <= level:
            out[count] = j + extents.size if minus else j
            count += 1
    return out[:count]


def entries(code: Numbers, extents: Vector) -> Vector:
    """The one nonzero entry of each vertex."""
    entry = extents[code % extents.size]
    return np.where(code < extents.size, entry, -entry)


@twin(entries)
def _entries(code: Numbers, extents: Vector) -> Vector:
    out = np.empty(code.size)
    for i in range(code.size):
        out[i] = extents[code[i]] if code[i] < extents.size else -extents[code[i] - extents.size]
    return out
