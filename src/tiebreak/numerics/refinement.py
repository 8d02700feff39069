"""Linear programmes below the tolerances of a solver: iterative refinement.

A. Gleixner, D. Steffy, K. Wolter, INFORMS Journal on Computing 28, 2016. With the rows as equations A x - s = 0 in the
variables v = (x, s), what an answer v, y misses is computed in extended precision and becomes the data of the next
programme: bounds and right-hand sides shifted by v and multiplied by the inverse of the worst violation, costs less
[A, -1]'y and multiplied by that of the worst sign. The same tolerance then stands for so many digits more. Each round
starts from the basis of the one before, and its answer, divided by both factors, corrects v and y.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .extended import Ext, ExtMatrix, between, double, ext
from .highs import Model
from .retries import answers
from .rows import Rows, power_of_two

ROUNDS = 12
LARGEST_STEP = 2.0**30
"""A round multiplies by at most so much more than the one before."""
INSIDE = 1e-15
"""What is farther than this from both of its ends, relative to its size, is at none of them."""
DONE = 2.0**-54
"""Violations of bounds and signs, relative to what is compared, at which the basis is right."""
LITTLE = 2.0**-10
"""Entries count as at least this part of the typical size of their variable."""
SMALLEST = 1e-300
SWEEPS = 4


class Refined(NamedTuple):
    """A point, the multipliers of the rows, and which columns and rows are basic there."""

    x: Ext
    y: Ext
    columns: NDArray[np.bool_]
    rows: NDArray[np.bool_]


def refined(rows: Rows, c: Vector, start: Refined, sizes: Vector) -> Refined:
    """The minimiser of <c, x> over ``rows``, from an answer within the tolerances of HiGHS; the best that was seen.

    Units are those that make the entries of A alike, as HiGHS drops small ones; the typical ``sizes`` of the variables
    only tell when to end. Bounds come first: of two points the better is that which misses less of them, then the one
    with the better signs.
    """
    m, n = rows.A.shape
    column_scale, row_scale = _equilibrated(rows.A)
    A = ExtMatrix(sp.csr_array(between(row_scale, rows.A, column_scale)))
    cost_scale = 1 / float(power_of_two(np.abs(c * column_scale).max(keepdims=True))[0])
    cost = ext(c * column_scale * cost_scale)
    lower = ext(np.append(rows.lower / column_scale, rows.low * row_scale))
    upper = ext(np.append(rows.upper / column_scale, rows.high * row_scale))
    model = Model(sp.hstack([A.A, -sp.eye_array(m)]), np.zeros(m), np.zeros(m), double(lower), double(upper))
    model.start_from(np.append(start.columns, start.rows), np.zeros(m, dtype=bool))

    x, y = ext(start.x / column_scale), ext(start.y / row_scale * cost_scale)
    v = ext(np.clip(np.append(x, A.times(x)), lower, upper))
    best, least, basic = start, (np.inf, np.inf), (start.columns, start.rows)
    primal = dual = 1.0
    for _ in range(ROUNDS):
        short: Ext = ext(v[n:] - A.times(v[:n]))
        price = np.append(cost - A.transpose_times(y), y)
        missed = double(np.append(np.maximum(np.maximum(lower - v, v - upper), 0), np.abs(short)))
        wrong = _wrong_signs(v, price, lower, upper)
        at = np.maximum(np.abs(double(v[:n])), LITTLE * sizes / column_scale)
        terms = np.maximum(A.size @ at, SMALLEST)
        off = float((missed / np.concatenate([at, terms, terms])).max()), float(wrong.max(initial=0.0))
        off = 0.0 if off[0] <= DONE else off[0], 0.0 if off[1] <= DONE else off[1]
        if off < least:
            best, least = Refined(ext(v[:n] * column_scale), ext(y * row_scale / cost_scale), *basic), off
        if not any(off):
            break
        primal = _larger(primal, float(missed.max())) if off[0] else primal
        dual = _larger(dual, float(wrong.max())) if off[1] else dual
        model.set_column_ends(np.arange(n + m), double(ext((lower - v) * primal)), double(ext((upper - v) * primal)))
        model.set_row_ends(np.arange(m), double(ext(short * primal)), double(ext(short * primal)))
        model.set_cost(double(ext(price * dual)))
        if not any(status.optimal for status in answers(model)):
            break
        step, turn = model.solution()
        v, y = v + ext(step) / primal, y + ext(turn) / dual
        columns, own = model.basis()
        basic = columns[:n], columns[n:] | own
    return best


def _equilibrated(A: Matrix) -> tuple[Vector, Vector]:
    """Powers of two for columns and rows that make the entries of the matrix as alike as a few sweeps can."""
    i, j, entries = sp.find(A)
    log, (m, n) = np.log2(np.abs(entries)), A.shape
    rows, columns = np.zeros(m), np.zeros(n)
    for _ in range(SWEEPS):
        rows = -_middle(i, log + columns[j], m)
        columns = -_middle(j, log + rows[i], n)
    return np.ldexp(1.0, np.rint(columns).astype(int)), np.ldexp(1.0, np.rint(rows).astype(int))


def _middle(place: NDArray[Any], values: Vector, count: int) -> Vector:
    """Half way between the least and the largest of the values in each place, 0 without any."""
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, place, values)
    np.maximum.at(most, place, values)
    return np.where(
        least <= most, (np.where(np.isfinite(least), least, 0) + np.where(np.isfinite(most), most, 0)) / 2, 0
    )


def _wrong_signs(v: Ext, price: Ext, lower: Ext, upper: Ext) -> Ext:
    """By how much prices have the wrong sign for the end where v is; all of them where it is at none."""
    below, above = v - lower, upper - v
    wrong = np.where(below <= above, -price, price)
    wrong = np.where(np.minimum(below, above) > INSIDE * np.maximum(1, np.abs(v)), np.abs(price), wrong)
    return np.where(lower == upper, 0, np.maximum(wrong, 0))


def _larger(factor: float, violation: float) -> float:
    """The next factor: the inverse of the violation, a power of two, at most ``LARGEST_STEP`` times the last one."""
    most = LARGEST_STEP * factor
    return most if violation * most <= 1 else max(1.0, 1 / float(power_of_two(np.array([violation]))[0]))
