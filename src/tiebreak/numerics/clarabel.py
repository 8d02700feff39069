"""Clarabel (P. Goulart, Y. Chen, 2024): an interior-point method for cones. The only file to know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..kernels import clock
from .deadline import SPEED, OutOfTime
from .foreign import TOLERANCE, Found

FASTER_THAN_COUNTED = 4.0
"""So many times faster than ``SPEED`` it factorises where time may be short: on large systems."""

Cones = Sequence[tuple[str, float]]


class Point(NamedTuple):
    """x, the slacks s and the multipliers z of A x + s = b, and Clarabel's own word for them."""

    x: Vector
    s: Vector
    z: Vector
    word: str


def solve_conic(
    P: Matrix,
    q: Vector,
    A: Matrix,
    b: Vector,
    cones: Cones,
    *,
    tolerance: float = TOLERANCE,
    seconds: float = inf,
    patient: bool = False,
) -> Point:
    """Minimise 1/2 x'Px + <q, x> subject to A x + s = b with s in a product of ``cones``, by pairs of kind and size.

    The kinds are "zero", "nonnegative", "second-order", "semidefinite" (with the order as its size: the upper triangle
    column by column, what is off the diagonal times sqrt(2)), "triangle" (the same without that factor), "exponential"
    (of three entries), and "power" (of three, with its exponent in place of a size). Clarabel looks at the clock
    between its factorisations. One that is ``patient`` tries other settings
    where the usual ones fail, as they do on a few harmless problems at the first step.
    """
    import clarabel

    kinds = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
        "semidefinite": clarabel.PSDTriangleConeT,
        "triangle": clarabel.PSDTriangleConeT,
        "exponential": lambda _: clarabel.ExponentialConeT(),
        "power": clarabel.PowerConeT,
    }
    upper = sp.csc_matrix(sp.triu(sp.csc_matrix(P)))
    scale = _off_diagonals(cones)
    A = sp.csc_matrix(A)
    if scale is not None:
        A, b = sp.csc_matrix(sp.diags_array(scale) @ A), scale * b
    made = [kinds[kind](size if kind == "power" else int(size)) for kind, size in cones]
    started = clock()
    for change in (0, 1, 2) if patient else (0,):
        settings = _quiet()
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        if np.isfinite(seconds):
            settings.time_limit = max(seconds - (clock() - started), 1e-3)
        if change == 1:
            settings.equilibrate_enable = False
        elif change == 2:
            settings.static_regularization_constant = 1e-7
        point = _solved(lambda: clarabel.DefaultSolver(upper, q, A, b, made, settings).solve(), *A.shape)  # noqa: B023
        if point.word in ("Solved", "AlmostSolved", "MaxTime"):
            break
    return point if scale is None else point._replace(s=point.s / scale, z=point.z * scale)


def _solved(solve: Callable[[], Any], m: int, n: int) -> Point:
    """The answer; numbers that are none where Clarabel panics, which Python sees as an exception of no usual kind."""
    try:
        answer = solve()
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        return Point(np.full(n, np.nan), np.full(m, np.nan), np.full(m, np.nan), "Panicked")
    return Point(np.array(answer.x), np.array(answer.s), np.array(answer.z), str(answer.status))


def _off_diagonals(cones: Cones) -> Vector | None:
    """Factors of the rows: sqrt(2) off the diagonals of triangles; None without any."""
    if all(kind != "triangle" for kind, _ in cones):
        return None
    parts = []
    for kind, size in cones:
        rows = rows_of(kind, size)
        part = np.full(rows, np.sqrt(2.0) if kind == "triangle" else 1.0)
        if kind == "triangle":
            part[np.cumsum(np.arange(1, int(size) + 1)) - 1] = 1.0
        parts.append(part)
    return np.concatenate(parts)


def rows_of(kind: str, size: float) -> int:
    """The number of rows of a cone."""
    if kind in ("power", "exponential"):
        return 3
    return int(size) * (int(size) + 1) // 2 if kind in ("semidefinite", "triangle") else int(size)


def solve(
    H: Matrix,
    c: Vector,
    G: Matrix,
    low: Vector,
    high: Vector,
    lower: Vector,
    upper: Vector,
    *,
    tolerance: float = TOLERANCE,
    seconds: float = inf,
) -> tuple[Found, NDArray[np.int8]]:
    """A quadratic programme (see ``foreign``), and the side of each row and then of each column.

    A side is -1 at a low end and 1 at a high one: where the multiplier beats the slack; 0 elsewhere. ``OutOfTime`` says
    that the first factorisation would take longer than ``seconds``.
    """
    if np.isfinite(seconds):
        from .effort import system_work  # which counts entries by the function below

        seconds -= system_work(H, G) / (FASTER_THAN_COUNTED * SPEED)
        if seconds <= 0:
            raise OutOfTime
    m, n = G.shape
    B = sp.csr_array(sp.vstack([sp.csr_array(G), sp.eye_array(n, format="csr")]))
    low, high = np.append(low, lower), np.append(high, upper)
    tied = np.flatnonzero(low == high)
    above = np.flatnonzero((low < high) & np.isfinite(high))
    below = np.flatnonzero((low < high) & np.isfinite(low))
    rows = sp.vstack([B[tied], B[above], -B[below]])
    ends = np.concatenate([high[tied], high[above], -low[below]])
    cones = [("zero", tied.size), ("nonnegative", above.size + below.size)]
    x, s, z, word = solve_conic(H, c, rows, ends, cones, tolerance=tolerance, seconds=seconds)
    y, side = np.zeros(m + n), np.zeros(m + n, dtype=np.int8)
    y[tied], side[tied] = -z[: tied.size], 1
    parts = slice(tied.size, tied.size + above.size), slice(tied.size + above.size, None)
    y[above] -= z[parts[0]]
    y[below] += z[parts[1]]
    side[below[(z > s)[parts[1]]]] = -1
    side[above[(z > s)[parts[0]]]] = 1
    return Found(x, y[:m], word), side


def factor_entries(H: Matrix, G: Matrix) -> float:
    """How many entries the factor of [[H, G'], [G, -D]] has in Clarabel's ordering: counted, not computed."""
    import clarabel

    settings = _quiet()
    settings.equilibrate_enable = settings.presolve_enable = False
    m, n = G.shape
    upper: Any = sp.triu(H)
    data = sp.csc_matrix(upper), np.zeros(n), sp.csc_matrix(G), np.zeros(m)
    solver = clarabel.DefaultSolver(*data, [clarabel.ZeroConeT(m)], settings)
    return float(solver.get_info().linsolver.nnzL)


def _quiet() -> Any:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    return settings
