"""A hierarchy of least squares over a box, in loops: the active set of each level, from one small factor.

Level k minimises |A_k x - b_k| over the x of the box with the images of the levels before, and the last one |x - c|.
Rows of the levels are stacked; K = C_S C_S' over the columns S that are at no end is kept up to date, and its Cholesky
factor, rows in the order of the levels, has all that a step needs: a step has the least length of those that do what
is wanted of it. A column at an end is let go where its multiplier asks for that, and held for good where the
multiplier of a level whose image the box limits is not zero.

A level that has all the rank on S that it has at all has the image that it would have without a box: no end pushes
against it. What is in doubt (pivots or multipliers that are neither zero nor not) ends in a refusal, not in a guess.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..kernels import Group, Kernel, loop
from ..kernels.registry import SUMS

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

DONE, DOUBT, LONG = 0, 1, 2
"""How a search ends: with the solution; with a decision that hangs on rounding; after too many steps."""

PIVOT = 1e-10
"""A pivot of K below this part of the square of its row is not told from zero, below 1e-4 of that it is."""
PUSH = 1e-9
"""A multiplier below this part of what it could be is not told from zero; in the last level 1e-3 of that."""
SMALL = 1e-14
"""Steps below this part of the size of the box change nothing."""
CLOSE = 1e-11
"""Images are held to this part of what they can be."""
FREE, FIXED = 0.0, 2.0
"""What ``side`` says of a column, besides -1 and 1: at its lower or upper end, for the time being."""


class Tasks(NamedTuple):
    """A hierarchy: columns of all rows one after the other (n x rows), ends and centre of x, all columns' K, where each
    level's rows begin, and by how much each level adds to the rank of those before."""

    columns: Array
    low: Vector
    high: Vector
    center: Vector
    gram: Array
    starts: Numbers
    ranks: Numbers


class Work(NamedTuple):
    """K of the columns inside, its factor and one for least squares, the order of the rows, the images to hold, C x,
    multipliers and three more vectors by rows; by columns the gradient, the step, and which end; the size of x."""

    K: Array
    L: Array
    H: Array
    order: Numbers
    target: Vector
    image: Vector
    y: Vector
    v: Vector
    left: Vector
    pull: Vector
    p: Vector
    side: Vector
    size: Vector


@loop(SUMS)
def factorise(K: Array, gram: Array, rows: Numbers, held: int, count: int, rank: int, L: Array, left: Vector) -> int:
    """The Cholesky factor of K for so many of the rows: those held in their order, then at most ``rank`` of the others,
    the largest first; returns how many of these there are, or -1 where a pivot is in doubt."""
    for i in range(count):
        left[i] = K[rows[i], rows[i]]
    for q in range(held + rank):
        if q >= held:
            best = q
            for i in range(q + 1, count):
                if left[i] > left[best]:
                    best = i
            if best != q:
                rows[q], rows[best] = rows[best], rows[q]
                left[q], left[best] = left[best], left[q]
                for a in range(q):
                    L[q, a], L[best, a] = L[best, a], L[q, a]
        own = rows[q]
        least = PIVOT * gram[own, own]
        if not left[q] > least:
            return -1 if q < held or left[q] > 1e-4 * least else q - held
        pivot = math.sqrt(left[q])
        L[q, q] = pivot
        for i in range(q + 1, count):
            total = K[rows[i], own]
            for a in range(q):
                total -= L[i, a] * L[q, a]
            total /= pivot
            L[i, q] = total
            left[i] -= total * total
    return rank


@loop(SUMS)
def forward(L: Array, start: int, end: int, x: Vector) -> None:
    """x = L^-1 x for rows and columns start .. end."""
    for i in range(start, end):
        total = x[i]
        for a in range(start, i):
            total -= L[i, a] * x[a]
        x[i] = total / L[i, i]


@loop(SUMS)
def backward(L: Array, start: int, end: int, x: Vector) -> None:
    """x = L^-T x for rows and columns start .. end."""
    for i in range(end - 1, start - 1, -1):
        x[i] /= L[i, i]
        total = x[i]
        for a in range(start, i):
            x[a] -= L[i, a] * total


@loop(SUMS)
def least_squares(L: Array, held: int, count: int, rank: int, v: Vector, H: Array, s: Vector) -> None:
    """v = (G G')^+ ... in place: the least z with |G z - v| least, G = L2 L2', L2 the part of L below the rows held."""
    if held + rank == count:
        forward(L, held, count, v)
        backward(L, held, count, v)
        return
    s[:] = 0.0
    for a in range(rank):
        for i in range(held + a, count):
            s[a] += L[i, held + a] * v[i]
        for c in range(a + 1):
            total = 0.0
            for i in range(held + a, count):
                total += L[i, held + a] * L[i, held + c]
            for d in range(c):
                total -= H[a, d] * H[c, d]
            H[a, c] = math.sqrt(max(total, 1e-300)) if a == c else total / H[c, c]
    for _ in range(2):
        forward(H, 0, rank, s)
        backward(H, 0, rank, s)
    for i in range(held, count):
        total = 0.0
        for a in range(min(rank, i - held + 1)):
            total += L[i, held + a] * s[a]
        v[i] = total


@loop(SUMS)
def move_column(K: Array, c: Vector, sign: float) -> None:
    """A column leaves K (-1) or enters it (1)."""
    for i in range(c.size):
        factor = sign * c[i]
        if factor != 0.0:
            for a in range(c.size):
                K[i, a] += factor * c[a]


@loop(SUMS)
def images(columns: Array, x: Vector, out: Vector) -> None:
    """C x."""
    out[:] = 0.0
    for j in range(x.size):
        if x[j] != 0.0:
            for i in range(out.size):
                out[i] += columns[j, i] * x[j]


@loop(SUMS)
def advance(low: Vector, high: Vector, x: Vector, p: Vector, side: Vector, size: Vector) -> int:
    """Go along p until an end is met: the column that meets it, -1 where none does."""
    length, met = 1.0, -1
    for j in range(x.size):
        if side[j] == FREE and p[j] != 0.0:
            room = (high[j] if p[j] > 0 else low[j]) - x[j]
            if abs(room) < length * abs(p[j]):
                length, met = room / p[j], j
    for j in range(x.size):
        if side[j] == FREE:
            x[j] = min(max(x[j] + length * p[j], low[j]), high[j])
            size[0] = max(size[0], abs(x[j]))
    if met >= 0:
        side[met] = 1.0 if p[met] > 0 else -1.0
        x[met] = high[met] if p[met] > 0 else low[met]
    return met


@loop(SUMS)
def step(columns: Array, y: Vector, pull: Vector, side: Vector, p: Vector) -> float:
    """p = C'y - pull of the columns inside, and its largest entry."""
    largest = 0.0
    for j in range(p.size):
        p[j] = 0.0
        if side[j] == FREE:
            found = -pull[j]
            for i in range(y.size):
                found += columns[j, i] * y[i]
            p[j] = found
            largest = max(largest, abs(found))
    return largest


@loop(SUMS)
def wrong_way(columns: Array, y: Vector, pull: Vector, side: Vector, least: float) -> int:
    """The column whose end pushes the wrong way most; -1 where there is none, -2 where some push is in doubt.

    ``pull`` has the gradient of the level but for C'y. A push is told from zero from this part on of what it could be
    with the largest of the multipliers y.
    """
    worst, most, doubt, largest = -1, least, -1, 0.0
    for i in range(y.size):
        largest = max(largest, abs(y[i]))
    for j in range(side.size):
        if abs(side[j]) == 1.0:
            push, size = pull[j], abs(pull[j])
            for i in range(y.size):
                push -= columns[j, i] * y[i]
                size += abs(columns[j, i]) * largest
            push *= side[j]
            if push > most * size:
                worst, most = j, push / size
            elif abs(push) <= least * size:
                doubt = -2
    return worst if worst >= 0 else doubt


@loop()
def difference(x: Vector, y: Vector, out: Vector) -> None:
    """x - y."""
    for j in range(x.size):
        out[j] = x[j] - y[j]


@loop()
def total(v: Vector) -> float:
    """The sum."""
    found = 0.0
    for i in range(v.size):
        found += v[i]
    return found


@loop()
def inside(side: Vector) -> int:
    """How many columns are at no end."""
    count = 0
    for j in range(side.size):
        count += side[j] == FREE
    return count


@loop(SUMS)
def spread(L: Array, order: Numbers, held: int, count: int, v: Vector, y: Vector) -> None:
    """The multipliers y of all rows: v of a level, and what these ask of the rows held, with v of their own."""
    y[:] = 0.0
    for i in range(held, count):
        y[order[i]] = v[i]
        for a in range(held):
            v[a] -= L[i, a] * v[i]
    backward(L, 0, held, v)
    for i in range(held):
        y[order[i]] = v[i]


@loop(SUMS)
def remainders(
    L: Array, order: Numbers, held: int, count: int, goal: Vector, b: Vector, image: Vector, v: Vector
) -> None:
    """What the images held miss, solved with the factor; and what the right-hand sides of a level miss after that."""
    for i in range(held):
        v[i] = goal[order[i]] - image[order[i]]
    forward(L, 0, held, v)
    for i in range(held, count):
        missing = b[order[i]] - image[order[i]]
        for a in range(held):
            missing -= L[i, a] * v[a]
        v[i] = missing


@loop(SUMS)
def told_from_zero(order: Numbers, held: int, count: int, v: Vector, b: Vector, gram: Array, x: Vector) -> bool:
    """Whether residuals v of a level are more than rounding."""
    most, size, length = 0.0, 0.0, 0.0
    for j in range(x.size):
        length += x[j] * x[j]
    for i in range(held, count):
        row = order[i]
        most, size = max(most, abs(v[i])), max(size, abs(b[row]), math.sqrt(gram[row, row] * length))
    return most > PUSH * size


@loop()
def level(tasks: Tasks, work: Work, b: Vector, x: Vector, k: int, held: int, budget: int) -> tuple[int, int, int]:
    """One level: how it ended, how many rows it adds to those held, and the steps left."""
    columns, low, high, gram, ranks = tasks.columns, tasks.low, tasks.high, tasks.gram, tasks.ranks
    K, L, order, image, y, v, side = work.K, work.L, work.order, work.image, work.y, work.v, work.side
    p, pull, size, target = work.p, work.pull, work.size, work.target
    first = tasks.starts[k]
    count = held + tasks.starts[k + 1] - first
    for i in range(held, count):
        order[i] = first + i - held
    pull[:] = 0.0
    for left in range(budget - 1, -1, -1):
        wanted = min(ranks[k], inside(side) - held)
        rank = factorise(K, gram, order, held, count, wanted, L, work.left)
        if rank < 0:
            return DOUBT, 0, left
        met = -1
        for _ in range(3):
            images(columns, x, image)
            remainders(L, order, held, count, target, b, image, v)
            least_squares(L, held, count, rank, v, work.H, work.left)
            spread(L, order, held, count, v, y)
            largest = step(columns, y, pull, side, p)
            met = advance(low, high, x, p, side, size)
            if met >= 0 or rank == ranks[k] or largest <= SMALL * size[0]:
                break
        if met >= 0:
            move_column(K, columns[met], -1.0)
            continue
        images(columns, x, image)
        if rank < ranks[k]:  # the box limits the level
            v[:held] = 0.0
            for i in range(held, count):
                v[i] = b[order[i]] - image[order[i]]
            if not told_from_zero(order, held, count, v, b, gram, x):
                return DOUBT, 0, left
            spread(L, order, held, count, v, y)
            worst = wrong_way(columns, y, pull, side, PUSH)
            if worst == -2:
                return DOUBT, 0, left
            if worst >= 0:
                side[worst] = FREE
                move_column(K, columns[worst], 1.0)
                continue
            for j in range(x.size):
                if abs(side[j]) == 1.0:
                    side[j] *= FIXED
        for i in range(held, held + rank):
            target[order[i]] = b[order[i]] if held + rank == count else image[order[i]]
        return DONE, rank, left
    return LONG, 0, 0


@loop(SUMS)
def from_center(columns: Array, x: Vector, away: Vector, side: Vector, out: Vector) -> None:
    """C of the x whose columns inside are at the centre."""
    out[:] = 0.0
    for j in range(x.size):
        own = x[j] - away[j] if side[j] == FREE else x[j]
        if own != 0.0:
            for i in range(out.size):
                out[i] += columns[j, i] * own


@loop()
def nearest(tasks: Tasks, work: Work, b: Vector, x: Vector, held: int, budget: int) -> tuple[int, int]:
    """The last level: x nearest to the centre with the images held; how it ended, and the steps left."""
    columns, low, high, center = tasks.columns, tasks.low, tasks.high, tasks.center
    K, L, order, image, y, v, side = work.K, work.L, work.order, work.image, work.y, work.v, work.side
    p, pull, size = work.p, work.pull, work.size
    for left in range(budget - 1, -1, -1):
        if factorise(K, tasks.gram, order, held, held, 0, L, work.left) < 0:
            return DOUBT, left
        met = -1
        for _ in range(4):
            difference(x, center, pull)
            from_center(columns, x, pull, side, image)
            remainders(L, order, held, held, work.target, b, image, v)
            spread(L, order, held, held, v, y)
            largest = step(columns, y, pull, side, p)
            met = advance(low, high, x, p, side, size)
            if met >= 0 or largest <= SMALL * size[0]:
                break
        if met >= 0:
            move_column(K, columns[met], -1.0)
            continue
        difference(x, center, pull)
        worst = wrong_way(columns, y, pull, side, 1e-3 * PUSH)
        if worst < 0:
            return DONE, left
        side[worst] = FREE
        move_column(K, columns[worst], 1.0)
    return LONG, 0


@loop()
def search(tasks: Tasks, b: Vector, x: Vector, side: Vector, most: int) -> tuple[int, int]:
    """Solve a hierarchy from x, which becomes the solution: how it ended, and after how many steps.

    ``side`` tells which columns are at which end when it ends: -1, 0, 1, and twice that for those held for good.
    """
    n, rows = tasks.columns.shape
    work = Work(
        tasks.gram.copy(), np.empty((rows, rows)), np.empty((rows, rows)), np.arange(rows), np.zeros(rows),
        np.empty(rows), np.empty(rows), np.empty(rows), np.empty(rows), np.empty(n), np.empty(n), side, np.zeros(1),
    )  # fmt: skip
    for j in range(n):
        x[j] = min(max(x[j], tasks.low[j]), tasks.high[j])
        at_low, at_high = x[j] == tasks.low[j], x[j] == tasks.high[j]
        side[j] = FIXED if at_low and at_high else -1.0 if at_low else 1.0 if at_high else FREE
        work.size[0] = max(work.size[0], abs(x[j]))
        if side[j] != FREE:
            move_column(work.K, tasks.columns[j], -1.0)
    if work.size[0] == 0.0:
        work.size[0] = 1.0
    held, budget = 0, most
    if not (math.isfinite(total(b)) and math.isfinite(total(x))):
        return DOUBT, 0
    for k in range(tasks.ranks.size):
        loose = 0
        for j in range(n):
            loose += abs(side[j]) != FIXED
        if tasks.ranks[k] == 0 or held >= loose:
            continue
        ended, more, budget = level(tasks, work, b, x, k, held, budget)
        if ended != DONE:
            return ended, most - budget
        held += more
    ended, budget = nearest(tasks, work, b, x, held, budget)
    images(tasks.columns, x, work.image)
    for i in range(held):
        row = work.order[i]
        if not abs(work.image[row] - work.target[row]) <= CLOSE * math.sqrt(tasks.gram[row, row]) * work.size[0]:
            ended = max(ended, DOUBT)
    return ended, most - budget


HIERARCHIES = Group("the loops of prepared hierarchies", 8.0)
fast_search = Kernel(search, HIERARCHIES)
