"""Column generation: minimise over the vertices in use, ask the linear oracle for a better one, repeat.

The lower level is priced by its gradient. The upper level is priced lexicographically: a vertex counts only if it
lowers f without raising g, which is the price c + lam r* for a large enough lam; Dinkelbach's rule finds the least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..sets.base import Domain
from .master import Master
from .smooth import Smooth
from .vertices import Vertices

NEAR = 1e-9  # below this gap, relative to the scale, the master problem is solved with a second, refining step


@dataclass(frozen=True)
class Offer:
    """The vertex the oracle proposes, what it promises, and the noise in that number."""

    s: Vector
    gap: float
    scale: float
    noise: float


class LowerPrice:
    """min over Z of <grad g(x), s>."""

    def __init__(self, domain: Domain, level: Smooth) -> None:
        self.domain, self.level = domain, level

    def offer(self, master: Master) -> Offer:
        v, k = master.v, master.v.count
        w = v.w[:k]
        grad = self.level.pull(master.slope)
        s = self.domain.lmo(grad)
        at_x = float(w @ master.gradient)
        spread = float(w @ v.size[:k])
        steep = math.sqrt(master.slope @ master.slope)
        scale = spread * (master.bend * spread + steep) + float(w @ np.abs(v.p[:k]))
        return Offer(s, at_x - float(grad @ s), scale, 1e-15 * scale)


class UpperPrice:
    """min over Z of <c + lam r*, s>: c = grad f(x) + A'y with the prices y of A x = t*, r* = grad g on the face.

    Parameters
    ----------
    normal : array
        r*.
    level : float
        Its value at the lower solutions.
    resolution : float
        Differences of <r*, .> up to this are noise.
    flat : bool
        Whether r* is zero up to noise: all of Z is the face.
    """

    def __init__(
        self, domain: Domain, upper: Smooth, lower: Smooth, normal: Vector, level: float, resolution: float, flat: bool
    ) -> None:
        self.domain, self.upper, self.lower = domain, upper, lower
        self.normal, self.level, self.resolution, self.flat = normal, level, resolution, flat
        self.lam = 0.0
        self.y = np.zeros(0)
        self.c = np.zeros(0)

    def offer(self, master: Master) -> Offer:
        v, k = master.v, master.v.count
        w = v.w[:k]
        y = self.y = master.multiplier()
        c = self.upper.pull(master.slope)
        if self.lower.data is not None:
            c = c + self.lower.data.transpose_times(y[1:])
        self.c = c
        at_x = float(w @ master.gradient) + float(y[1:] @ v.t_star)
        while True:
            s = self.domain.lmo(c if self.flat else c + self.lam * self.normal)
            gain = at_x - float(c @ s)
            if self.flat:
                loss = 0.0
                break
            loss = float(self.normal @ s) - self.level
            if loss <= self.resolution or gain <= self.lam * loss * (1 + 1e-12):
                break
            self.lam = gain / loss * (1 + 1e-6)
        reach, steep = float(v.size[:k].max()), math.sqrt(master.slope @ master.slope)
        scale = abs(master.value) + reach * (self.upper.push + steep)
        scale += math.sqrt(y @ y) * v.s0 + float(np.abs(v.p[:k]).max())
        return Offer(s, gain - self.lam * loss, scale, 1e-14 * scale + 2 * self.lam * self.resolution)


def generate(master: Master, price: LowerPrice | UpperPrice, most: int, crowd: int) -> tuple[int, str]:
    """Add vertices until none helps; returns the steps taken and how it ended: optimal, repeated, crowded, limit."""
    full, repeats, enough = 1, 0, 0.0
    for step in range(most):
        master.descend(full, enough)
        offer = price.offer(master)
        if offer.gap <= offer.noise:
            if full == 2:
                return step, "optimal"
            full, enough = 2, 0.0
            master.refresh()
            continue
        near = offer.gap <= NEAR * offer.scale
        full, enough = (2, 0.0) if near else (1, 1e-3 * offer.gap)
        key, slot = master.v.find(offer.s)
        if slot >= 0:  # its price should be 0: the factors have drifted, or this is the limit of the arithmetic
            repeats += 1
            if repeats == 3:
                return step, "repeated"
            full, enough = 2, 0.0
            master.refresh()
            continue
        if master.v.count >= crowd:
            return step, "crowded"
        master.enter(offer.s, key)
    return most, "limit"


def start(domain: Domain, level: Smooth, dim: int) -> Vertices:
    """One vertex, the one the gradient at the origin points to."""
    vertices = Vertices(dim, level)
    s = domain.lmo(level.pull(level.at(np.zeros(level.size))[1]))
    vertices.add(s, vertices.find(s)[0], 1.0)
    return vertices
