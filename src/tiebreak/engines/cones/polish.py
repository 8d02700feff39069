"""Newton's method on a chart: steps in double precision, residuals and iterates in extended precision."""

from __future__ import annotations

from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.deadline import afford, check
from ...numerics.extended import UNIT, Ext, double, ext, product, total
from ...sets.round.description import Chart
from .level import Level, Local

MOST_STEPS = 40
RANK = 1e-13
"""Pivots and singular values of the Newton system below this, relative to the largest, count as zero."""


ROUNDING = 1e-14
"""Residuals below this are mostly rounding: a step that gains nothing there gains nothing when cut, either."""


@dataclass(frozen=True)
class Polished:
    """Where Newton's method ended: u and x, the level there, the prices, and the residual relative to its scale.

    ``priced`` are the multipliers of kinks that the slope of the level is made with.
    """

    chart: Chart
    u: Ext
    x: Ext
    here: Local
    lam: Ext
    w: Ext
    residual: float
    priced: Ext | None = None


def polish(level: Level, chart: Chart, E: Matrix | Ext | None = None, t: Ext | None = None,
           w: Vector | None = None, most: int = MOST_STEPS) -> Polished:  # fmt: skip
    """A stationary point of the level on the chart, near its start; with rows E x = t held where they are given."""
    system = System(level, chart, E, t)
    u = chart.start
    prices = ext(np.zeros(system.rows) if w is None else w)
    best = system.state(u, ext(np.zeros(chart.equations)), prices, fit=True)
    stalls = 0
    for _ in range(most):
        check()
        step = system.step(best)
        if step is None:
            break
        share, found = np.longdouble(1), None
        for _ in range(12 if best.residual > ROUNDING else 1):
            tried = system.state(
                best.u + share * step[0], best.lam + share * step[1], best.w + share * step[2], fit=False
            )
            if tried.residual < best.residual:
                found = tried
                break
            share /= 2
        if found is None:
            break
        stalls = stalls + 1 if found.residual > 0.5 * best.residual else 0
        best = found
        if best.residual <= 2 * UNIT or stalls >= 3:
            break
    return best


class System:
    """F(u, lam, w) = (pull(u, grad + E'w) + lam normal(u), E x(u) - t, gauge(u) - 1), each in units of its own."""

    def __init__(self, level: Level, chart: Chart, E: Matrix | Ext | None, t: Ext | None,
                 slope: float = 0.0) -> None:  # fmt: skip
        self.level, self.chart = level, chart
        self.E: Matrix | None = None if E is None else np.asarray(E, dtype=np.float64)
        self.wide: Ext | None = None if E is None else ext(E)
        self.t = ext(np.zeros(0)) if t is None else t
        self.rows = 0 if E is None else E.shape[0]
        if not slope:
            slope = float(np.linalg.norm(double(chart.pull(chart.start, level.at(chart.point(chart.start)).grad))))
        self.slope = slope or 1.0
        self.reach = float(np.linalg.norm(double(chart.point(chart.start)))) or 1.0

    def state(self, u: Ext, lam: Ext, w: Ext, fit: bool) -> Polished:
        chart, x = self.chart, self.chart.point(u)
        here = self.level.at(x)
        c = here.grad if self.wide is None else here.grad + product(self.wide.T, w)
        F = chart.pull(u, c)
        if chart.equations:
            normals = chart.normals(u)
            if fit:  # normals of different blocks are orthogonal
                lam = -ext([total(F * column) / total(column * column) for column in normals.T])
            F = F + normals @ lam
        residual = float(np.linalg.norm(double(F))) / self.slope
        if self.wide is not None:
            residual += float(np.linalg.norm(double(product(self.wide, x) - self.t))) / self.reach
        residual += float(np.abs(chart.excess(u)).sum())
        return Polished(chart, u, x, here, lam, w, residual if np.isfinite(residual) else np.inf)

    def step(self, at: Polished) -> tuple[Ext, Ext, Ext] | None:
        """The Newton step, without what is idle."""
        chart, u, n = self.chart, at.u, at.u.size
        first = n + self.rows
        size = first + chart.equations
        afford(12.0 * size**3)
        c = at.here.grad if self.wide is None else at.here.grad + product(self.wide.T, at.w)
        J = chart.jacobian(u)
        top = chart.pulled(u, self.level.hessian(double(at.x)) @ J) + chart.bends(u, c, double(at.lam))
        K, right = np.zeros((size, size)), np.zeros(size)
        K[:n, :n] = top / self.slope
        F = chart.pull(u, c)
        if self.E is not None and self.wide is not None:
            held = slice(n, n + self.rows)
            K[:n, held] = chart.pulled(u, self.E.T) / self.slope
            K[held, :n] = self.E @ J / self.reach
            right[held] = double(product(self.wide, at.x) - self.t) / self.reach
        if chart.equations:
            normals = chart.normals(u)
            F = F + normals @ at.lam
            K[:n, first:] = double(normals) / self.slope
            K[first:, :n] = chart.gauge_slopes(u)
            right[first:] = double(chart.excess(u))
        right[:n] = double(F) / self.slope
        idle = chart.idle(u)
        if idle.shape[1]:
            edge = np.zeros((size, idle.shape[1]))
            edge[:n] = idle / np.maximum(np.linalg.norm(idle, axis=0), 1e-300)
            K = np.block([[K, edge], [edge.T, np.zeros((idle.shape[1], idle.shape[1]))]])
            right = np.append(right, np.zeros(idle.shape[1]))
        if not (np.isfinite(K).all() and np.isfinite(right).all()):
            return None
        columns = np.linalg.norm(K, axis=0)
        columns[columns == 0] = 1.0  # what does not matter does not move
        step = -_solved(K / columns, right) / columns
        step = step[:size]
        return ext(step[:n]), ext(step[first:]), ext(step[n:first])


def _solved(K: Matrix, right: Vector) -> Vector:
    """K^-1 right; of least length where K is singular."""
    from scipy.linalg import lu_factor, lu_solve

    with catch_warnings():
        simplefilter("ignore")  # a singular matrix
        factors = lu_factor(K, check_finite=False)
        pivots = np.abs(np.diag(factors[0]))
        if pivots.min() > RANK * pivots.max():
            return np.asarray(lu_solve(factors, right, check_finite=False))
    return np.asarray(np.linalg.lstsq(K, right, rcond=RANK)[0])
