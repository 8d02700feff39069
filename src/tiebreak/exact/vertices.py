"""The vertices in use, in flat arrays: each with its weight and its image under both levels."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Vector
from .smooth import Smooth


class Vertices:
    """Slots 0 .. count-1 hold vertices v; removing one moves the last into its slot.

    Attributes
    ----------
    w : array
        Weights: x is the sum of w v.
    E, F : arrays, one row a slot
        What the weights must keep (see :meth:`next_level`) and the image F v of the level that is minimised.
    p, size : arrays
        <p, v> of that level, and ||F v||.
    """

    def __init__(self, dim: int, level: Smooth) -> None:
        self.dim = dim
        self.count = 0
        self.keys: list[bytes] = []
        self.slots: dict[bytes, int] = {}
        self.index: list[np.ndarray] = []
        self.entries: list[Vector] = []
        self.w = np.zeros(16)
        self.level = level
        self.F, self.p, self.size = np.zeros((16, level.size)), np.zeros(16), np.zeros(16)
        self.fixed: Smooth | None = None
        self.t_star = np.zeros(0)
        self.s0 = 1.0
        self.E = np.zeros((16, 1))

    def next_level(self, level: Smooth, t_star: Vector) -> Vertices:
        """The same vertices to minimise ``level`` with, where sum w = 1 and the image t* of the level so far are kept.

        The row of E is [s0, F v - t*], with s0 of the size of the rest, so that E'w = [s0, 0].
        """
        following = Vertices(self.dim, level)
        following.fixed, following.t_star = self.level, t_star
        gaps = self.F[: self.count] - t_star
        spread, size = math.sqrt(np.mean(np.einsum("ij,ij->i", gaps, gaps))), float(self.size[: self.count].max())
        following.s0 = (spread if spread > 1e-6 * size else size) or 1.0
        following.E = np.zeros((len(following.w), 1 + t_star.size))
        for slot in range(self.count):
            following.add(self.vertex(slot), self.keys[slot], float(self.w[slot]))
        return following

    def emptied(self) -> Vertices:
        """The same levels, no vertices."""
        fresh = Vertices(self.dim, self.level)
        fresh.fixed, fresh.t_star, fresh.s0 = self.fixed, self.t_star, self.s0
        fresh.E = np.zeros((len(fresh.w), self.E.shape[1]))
        return fresh

    def find(self, s: Vector) -> tuple[bytes, int]:
        """The key of a vertex, and its slot or -1."""
        index = np.flatnonzero(s)
        key = key_of(index, s[index])
        return key, self.slots.get(key, -1)

    def add(self, s: Vector, key: bytes, weight: float = 0.0) -> int:
        """Put a vertex into the next slot."""
        slot = self.count
        if slot == len(self.w):
            self._grow()
        index = np.flatnonzero(s)
        self.keys.append(key)
        self.index.append(index)
        self.entries.append(s[index])
        self.slots[key] = slot
        self.w[slot] = weight
        self.count += 1
        self.E[slot, 0] = self.s0
        if self.fixed is not None:
            np.subtract(self.fixed.image(s), self.t_star, out=self.E[slot, 1:])
        image = self.F[slot] = self.level.image(s)
        self.size[slot] = math.sqrt(image @ image)
        self.p[slot] = self.level.linear_at(index, s[index])
        return slot

    def remove(self, slot: int) -> int:
        """Drop a vertex; returns the slot whose vertex has moved into the gap (the last one)."""
        last = self.count - 1
        del self.slots[self.keys[slot]]
        if slot != last:
            self.keys[slot], self.index[slot], self.entries[slot] = self.keys[-1], self.index[-1], self.entries[-1]
            self.slots[self.keys[slot]] = slot
            self.w[slot], self.p[slot], self.size[slot] = self.w[last], self.p[last], self.size[last]
            self.E[slot], self.F[slot] = self.E[last], self.F[last]
        self.keys.pop()
        self.index.pop()
        self.entries.pop()
        self.count = last
        return last

    def point(self) -> Vector:
        """The sum of w v."""
        x = np.zeros(self.dim)
        for slot in range(self.count):
            x[self.index[slot]] += self.w[slot] * self.entries[slot]
        return x

    def dot(self, c: Vector) -> Vector:
        """<c, v> for every vertex."""
        return np.array([c[i] @ v for i, v in zip(self.index, self.entries, strict=True)])

    def vertex(self, slot: int) -> Vector:
        """The vertex in a slot as a dense vector."""
        s = np.zeros(self.dim)
        s[self.index[slot]] = self.entries[slot]
        return s

    def _grow(self) -> None:
        self.w, self.p, self.size = _doubled(self.w), _doubled(self.p), _doubled(self.size)
        self.E, self.F = _doubled(self.E), _doubled(self.F)


def key_of(index: np.ndarray, entries: Vector) -> bytes:
    """What tells a vertex from others."""
    return index.tobytes() + entries.tobytes()


def _doubled(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array, np.zeros_like(array)])
