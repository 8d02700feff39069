"""Column generation: minimise over the vertices in use, ask the linear oracle for better ones, repeat.

The lower level is priced by its gradient. The upper level is priced lexicographically: a vertex counts only if it
lowers f without raising g, which is the price c + lam r* for a large enough lam; Dinkelbach's rule finds the least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...kernels import clock
from ..interrupt import check
from . import compiled
from .atoms import Atoms, OnAxes
from .level import Smooth
from .loop import FULL, LIMIT, OPTIMAL, PAUSED, STALE, Steps, loop
from .master import Master
from .sweep import Offer, Sweep, lower_scale, upper_scale
from .tableau import UNDONE, WORK, paused, stale
from .vertices import Vertices

FIRST_WORK, MOST_WORK = 5_000_000, 10**11  # multiplications between looks at the clock: at first, and at most
PAUSE = 0.1  # seconds that they should take
ENDS = ("optimal", "repeated", "crowded", "limit")


class Normal:
    """The slope of the lower level at its solutions.

    Parameters
    ----------
    lower : Smooth
    normal : array
        r* = grad g.
    least : float
        Its value at the lower solutions: <r*, x>.
    resolution : float
        Differences of <r*, .> up to this are noise.
    flat : bool
        Whether r* is zero up to noise: all of Z is the face.
    """

    def __init__(self, lower: Smooth, normal: Vector, least: float, resolution: float, flat: bool) -> None:
        self.lower, self.normal, self.least, self.resolution, self.flat = lower, normal, least, resolution, flat


class Oracle:
    """The steps with one vertex at a time, from the linear oracle of any polytope, for any level and any data."""

    def __init__(self, master: Master, normal: Normal | None) -> None:
        self.master, self.normal = master, normal

    def price(self, lam: float) -> Offer:
        master, atoms, normal = self.master, self.master.v.atoms, self.normal
        t, k, level = master.t, master.v.count, master.level
        c = level.pull(t.slope)
        at_x = float(t.w[:k] @ t.gradient[:k])
        if normal is None:
            scale = lower_scale(t, master.bend)
            noise, code, toll = 1e-15 * scale, atoms.least(c), 0.0
        else:
            y = master.multiplier()
            scale = upper_scale(t, master.value, level.push, y)
            if normal.lower.data is not None:
                c = c + normal.lower.data.transpose_times(y[1:])
                at_x += float(y[1:] @ master.v.t_star)
            code, toll, lam = self._lexicographic(c, at_x, lam, normal)
            noise = 1e-14 * scale + 2 * lam * normal.resolution
        check()
        gap, known = at_x - atoms.dot(c, code) - toll, master.v.slot(code) >= 0
        return Offer(gap, scale, noise, lam, np.array([code]), known, k, stale(t), False, c)

    def _lexicographic(self, c: Vector, at_x: float, lam: float, normal: Normal) -> tuple[int, float, float]:
        """Dinkelbach: the best vertex at the least lam at which none that raises g is worth it, its toll, and lam."""
        atoms = self.master.v.atoms
        if normal.flat:
            return atoms.least(c), 0.0, lam
        while True:
            code = atoms.least(c + lam * normal.normal)
            gain, loss = at_x - atoms.dot(c, code), atoms.dot(normal.normal, code) - normal.least
            if loss <= normal.resolution or gain <= lam * loss * (1 + 1e-12):
                return code, lam * loss, lam
            lam = gain / loss * (1 + 1e-6)

    def proceed(self, offer: Offer, settled: bool, full: int, most: int) -> int:
        return self.master.proceed(self.master.v.candidates(offer.code), settled, full, offer.gap, most)

    def interrupted(self, entered: int) -> bool:
        t = self.master.t
        return self.master.level.quadratic and (bool(t.n[UNDONE]) or (entered > 0 and paused(t)))


class Generated(NamedTuple):
    """Steps taken, how they ended, the price of the lower level, and scale and slope of what was last priced."""

    steps: int
    end: str
    lam: float
    scale: float
    slope: Vector


def generate(master: Master, normal: Normal | None, most: int, crowd: int, lam: float = 0.0) -> Generated:
    """Add vertices until none helps."""
    steps, full, repeats, end, work = 0, 1, 0, FULL, FIRST_WORK
    run = compiled.loop if master.sweeps else loop
    scale, slope = 0.0, np.zeros(master.v.atoms.dim)
    while end in (STALE, FULL, PAUSED):
        check()
        S: Steps = sweep_of(master, normal) if master.sweeps else Oracle(master, normal)
        master.t.n[WORK], began = work, clock()
        more, end, lam, scale, full, repeats = run(S, lam, full, repeats, most - steps, crowd, slope)
        pace = (work - int(master.t.n[WORK])) / max(clock() - began, 1e-6)
        work = int(min(max(PAUSE * pace, FIRST_WORK), MOST_WORK))
        steps += more
        if end == STALE:
            master.refresh()
        if end == FULL:
            master.reserve(2 * master.t.free.size)
        if steps >= most and end != OPTIMAL:
            end = LIMIT
    return Generated(steps, ENDS[end], lam, scale, slope)


def sweep_of(master: Master, normal: Normal | None) -> Sweep:
    """The steps over all vertices at once, for those on the axes with dense data."""
    v, level, atoms = master.v, master.level, master.v.atoms
    assert isinstance(atoms, OnAxes)
    d = atoms.dim
    upper = normal is not None
    return Sweep(
        T=master.t,
        rank_tol=master.rank_tol,
        extents=atoms.extents,
        signed=atoms.signed,
        A=rows_of(v.fixed, d),
        t_star=v.t_star,
        B=rows_of(level, d),
        p=np.zeros(d) if level.p is None else level.p,
        push=level.push,
        upper=upper,
        normal=normal.normal if normal is not None else np.zeros(d),
        least=normal.least if normal is not None else 0.0,
        resolution=normal.resolution if normal is not None else 0.0,
        flat=normal is None or normal.flat,
    )


def rows_of(level: Smooth | None, dim: int) -> np.ndarray:
    """The data, in C order."""
    return np.zeros((0, dim)) if level is None or level.data is None else level.by_rows


def start(atoms: Atoms, level: Smooth) -> Vertices:
    """One vertex, the one the gradient at the origin points to."""
    vertices = Vertices(atoms, level)
    first = np.array([atoms.least(level.pull(level.at(np.zeros(level.size))[1]))])
    vertices.add(first, np.ones(1))
    return vertices
