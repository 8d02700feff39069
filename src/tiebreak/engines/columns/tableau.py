"""The basis of the vertices in use, and what follows from it, kept up to date as vertices come and go.

The basic rows of E are independent; every other row is a mix C of them, so the superbasic weights z move freely and the
basic ones follow by -C'z. Kept: the pseudo-inverse P of the basic rows, G = P'F_B, which takes rows of E to the mix of
images F_B that belongs to them (once it is asked for, and where it is not too large), C, K = F_N - C F_B and H = K K',
the reduced Hessian of 1/2 ||F'w||^2. A change of one vertex is a rank-one update of each; all are computed afresh now
and then, and every use of P is refined by its residual, so that nothing drifts.

The functions are compiled where numba is there, so they are written in what it understands.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...kernels import loop
from ...kernels.leading_parts import assign, gather, lay, picked, put, put_column, scatter
from ...kernels.small_matrices import dots, mix, product, rank_one, steepest
from ...kernels.vertex_prices import bends

REFRESH, LATEST = 50, 500  # changes after which to compute all afresh: if a residual says so, and in any case
DRIFT = 1e-10  # of the prices: a residual above this, relative to what it is left of, says so
EXACT = 1e-14  # a residual below this needs no refinement

COUNT, RANK, FREE, FACTORED, CHANGES, DRIFTED, GAUGED, WORK, UNDONE = range(9)  # what a tableau counts

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Tableau(NamedTuple):
    """Flat arrays, of which the leading parts are in use; slots 0 .. count-1 hold vertices v.

    Attributes
    ----------
    n : array
        Counters: vertices, basic ones, superbasic ones, leading rows of L that are a Cholesky factor of H, changes
        since all was computed afresh, whether a residual has been large since, whether G is up to date, how many
        multiplications are left until the loops return, so that Python can look at the clock and take a Ctrl-C, and
        whether the weights were left on the way to a minimum for that.
    code, where : arrays
        Which vertex is in a slot, and the slot of a vertex, or -1.
    w : array
        Weights: x is the sum of w v.
    E, F : arrays, one row a slot
        What the weights must keep, E'w = e = [s0, 0, ...], and the image F v of the level that is minimised.
    p, size, gradient : arrays
        <p, v> of that level, ||F v||, and its slope along v.
    basic, free, place : arrays
        The slots of the basic and the superbasic vertices, and the place of a slot: its basic position, or
        -1 - superbasic position.
    target, slope : arrays
        h(t) = 1/2 ||t - target||^2, where the level is quadratic, and h' at the image of w.
    """

    n: Numbers
    code: Numbers
    where: Numbers
    w: Vector
    E: Array
    F: Array
    p: Vector
    size: Vector
    gradient: Vector
    basic: Numbers
    free: Numbers
    place: Numbers
    P: Array
    EB: Array
    FB: Array
    G: Array
    C: Array
    K: Array
    H: Array
    L: Array
    target: Vector
    slope: Vector


@loop()
def insert(T: Tableau, slot: int, rank_tol: float) -> None:
    """Make a vertex basic if its row of E is independent of the basic ones, else superbasic."""
    r, q = T.n[RANK], T.n[FREE]
    row, image = T.E[slot], T.F[slot]
    T.n[WORK] -= r * (3 * row.size + image.size) + q * image.size + T.n[GAUGED] * row.size * image.size
    c = dots(T.P, row, r)
    rest = row - mix(c, T.EB, row.size)
    size, norm = math.sqrt(np.dot(rest, rest)), math.sqrt(np.dot(row, row))
    if size > EXACT * norm:
        more = dots(T.P, rest, r)
        c = c + more
        rest = rest - mix(more, T.EB, row.size)
        size = math.sqrt(np.dot(rest, rest))
    T.n[CHANGES] += 1
    if r < T.P.shape[0] and size > rank_tol * norm:
        rest = rest / (size * size)
        rank_one(T.P, c, rest)
        if T.n[GAUGED]:
            rank_one(T.G, rest, mix(row, T.G, image.size) - image)
        put(T.P, r, rest)
        put(T.EB, r, row)
        put(T.FB, r, image)
        for i in range(q):
            T.C[i, r] = 0.0
        T.basic[r], T.place[slot] = slot, r
        T.n[RANK] += 1
        return
    put(T.C, q, c)
    put(T.K, q, image - mix(c, T.FB, image.size))
    bends = dots(T.K, T.K[q], q + 1)
    put(T.H, q, bends)
    put_column(T.H, q, bends)
    T.free[q], T.place[slot] = slot, -1 - q
    T.n[FREE] += 1


@loop()
def drop(T: Tableau, j: int) -> None:
    """Forget superbasic j; the last one takes its position."""
    last = T.n[FREE] - 1
    if j != last:
        put(T.C, j, T.C[last])
        put(T.K, j, T.K[last])
        corner, bends = T.H[last, last], T.H[last, :last].copy()
        put(T.H, j, bends)
        put_column(T.H, j, bends)
        T.H[j, j] = corner
        T.free[j] = T.free[last]
        T.place[T.free[j]] = -1 - j
    T.n[FACTORED] = min(T.n[FACTORED], j)
    T.n[FREE] = last


@loop()
def pivot(T: Tableau, j: int, t: int) -> None:
    """Superbasic t takes the basic position j, whose vertex leaves."""
    r, q, slot = T.n[RANK], T.n[FREE], T.free[t]
    rows, size = T.E.shape[1], T.F.shape[1]
    T.n[WORK] -= q * (r + size + 2 * q) + r * rows + T.n[GAUGED] * rows * size
    row, image, curve = T.C[t, :r].copy(), T.K[t].copy(), T.H[t, :q].copy()
    share = T.C[:q, j] / row[j]
    share[t] = 0.0
    rank_one(T.C, share, row)
    put_column(T.C, j, share)
    rank_one(T.K, share, image)
    rank_one(T.H, share, curve - curve[t] * share)
    rank_one(T.H, curve, share)
    inverse = T.P[j] / row[j]
    rank_one(T.P, row, inverse)
    put(T.P, j, inverse)
    if T.n[GAUGED]:
        rank_one(T.G, inverse, -image)
    T.n[FACTORED] = 0
    put(T.EB, j, T.E[slot])
    put(T.FB, j, T.F[slot])
    T.basic[j], T.place[slot] = slot, j
    drop(T, t)


@loop()
def leave(T: Tableau, slot: int) -> None:
    """Remove a vertex whose weight is 0; a basic one changes places with a superbasic one first."""
    place = T.place[slot]
    if place >= 0:
        pivot(T, place, steepest(T.C, T.n[FREE], place))
    else:
        drop(T, -1 - place)
    last = T.n[COUNT] - 1
    T.where[T.code[slot]] = -1
    if slot != last:
        T.code[slot], T.w[slot], T.p[slot], T.size[slot] = T.code[last], T.w[last], T.p[last], T.size[last]
        put(T.E, slot, T.E[last])
        put(T.F, slot, T.F[last])
        T.where[T.code[slot]] = slot
        place = T.place[last]
        T.place[slot] = place
        if place >= 0:
            T.basic[place] = slot
        else:
            T.free[-1 - place] = slot
    T.n[COUNT] = last
    T.n[CHANGES] += 1


@loop()
def curves(T: Tableau, E: Array, F: Array, order: Numbers) -> Vector:
    """The squared norms of the images of directions: of vertices with these rows, the basic ones making up for them."""
    if T.G.shape[0] == 0:  # it would be too large
        found = np.empty(order.size)
        for i in range(order.size):
            bend = F[order[i]] - mix(dots(T.P, E[order[i]], T.n[RANK]), T.FB, F.shape[1])
            found[i] = np.dot(bend, bend)
        return found
    if not T.n[GAUGED]:
        T.G[:] = 0.0
        for i in range(T.n[RANK]):
            rank_one(T.G, -T.P[i], T.FB[i])
        T.n[GAUGED] = 1
    return bends(T.G, E, F, order)


@loop()
def prices(T: Tableau) -> Vector:
    """y with E_B y = -gradient_B: the prices of the rows of E, of least norm."""
    r, rows = T.n[RANK], T.E.shape[1]
    target = gather(T.gradient, T.basic, r)
    y = mix(target, T.P, rows)
    rest = target - dots(T.EB, y, r)
    error, size = np.dot(rest, rest), np.dot(target, target)
    if error > EXACT * EXACT * size:
        y = y + mix(rest, T.P, rows)
    if error > DRIFT * DRIFT * size:
        T.n[DRIFTED] = 1
    return -y


@loop()
def write_prices(T: Tableau, y: Vector) -> None:
    """Write the prices into an array."""
    assign(y, prices(T))


@loop()
def paused(T: Tableau) -> bool:
    """Whether the work allowed is done."""
    return bool(T.n[WORK] <= 0)


@loop()
def stale(T: Tableau) -> bool:
    """Whether a refresh is due."""
    return bool(T.n[CHANGES] >= (REFRESH if T.n[DRIFTED] else LATEST))


@loop()
def follow(T: Tableau, P: Array) -> None:
    """Take P, computed afresh, and all that follows from it; the basic weights bring E'w back to e."""
    r, q, k, rows = T.n[RANK], T.n[FREE], T.n[COUNT], T.E.shape[1]
    lay(T.P, P)
    T.n[CHANGES] = T.n[DRIFTED] = T.n[FACTORED] = T.n[GAUGED] = 0
    for _ in range(2):
        gap = -mix(T.w[:k], T.E, rows)
        gap[0] += T.E[0, 0]
        scatter(T.w, T.basic, np.maximum(gather(T.w, T.basic, r) + dots(T.P, gap, r), 0.0), 1.0)
    if q > 0:
        left = picked(T.E, T.free[:q])
        C = product(left, P.T)
        C = C + product(left - product(C, T.EB[:r]), P.T)
        K = picked(T.F, T.free[:q]) - product(C, T.FB[:r])
        lay(T.C, C)
        lay(T.K, K)
        lay(T.H, product(K, K.T))
