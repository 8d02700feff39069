"""Sums of squares over bounds alone, by products with the data: Newton steps on the entries that are free to move.

    min 1/2 sum_i w_i (F v)_i^2 + 1/2 sum_j h_j v_j^2 + <c, v>   subject to   lower <= v <= upper

An entry is free unless it is at an end that its slope pushes to. Newton's step on the free ones comes from conjugate
gradients and is bent along the bounds (Bertsekas 1982; Moré and Toraldo 1991): whole sets of entries arrive at their
ends, or leave them, in one step. A few products of F with a vector are all that any of this costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .conjugate import conjugate_gradients
from .deadline import check
from .extended import column_squares, is_sparse

STEPS = 100
PRODUCTS = 6000
"""So many products with F and F' are made at most: where they are not enough, factorisations are what it takes."""
SHORTEST = 1e-8
"""Steps shorter than this, relative to Newton's, end the search."""
SMALL = 1e-10
"""The slope of free entries at which the search ends, relative to the largest one at the start: a polish follows."""
ROUGH, FINE = 1e-2, 1e-8
"""How well a Newton step is solved for while the free entries change, and once they do not."""


class Squares(NamedTuple):
    """The data; F dense or CSR."""

    F: Matrix
    w: Vector
    h: Vector
    c: Vector
    lower: Vector
    upper: Vector


def minimise_over_bounds(problem: Squares) -> Vector | None:
    """A minimiser, to some digits; None where the steps do not end."""
    F, w, h, c, lower, upper = problem
    back = sp.csr_array(F.T) if is_sparse(F) else F.T
    diagonal = h + column_squares(F, w)
    v = np.clip(np.zeros(c.size), lower, upper)
    image = np.asarray(F @ v)
    slope = np.asarray(back @ (w * image)) + h * v + c
    largest = float(np.abs(slope).max(initial=0.0)) or 1.0
    free_before = np.zeros(c.size, dtype=bool)
    left = PRODUCTS
    for _ in range(STEPS):
        check()
        free = ~(((v <= lower) & (slope > 0)) | ((v >= upper) & (slope < 0))) & (lower < upper)
        if float(np.abs(slope[free]).max(initial=0.0)) <= SMALL * largest:
            return v
        same = bool((free == free_before).all())
        free_before = free

        def times(p: Vector, free: NDArray[np.bool_] = free) -> Vector:
            nonlocal left
            left -= 1
            return np.where(free, np.asarray(back @ (w * (F @ p))) + h * p, 0.0)

        right = np.where(free, -slope, 0.0)
        curved = np.where(free, diagonal, 0.0)
        p, _ = conjugate_gradients(times, right, curved, tolerance=FINE if same else ROUGH, most=max(left, 1))
        if left <= 0:
            return None
        length = 1.0
        while True:
            move = np.clip(v + length * p, lower, upper) - v
            moved = np.asarray(F @ move)
            fall = float(slope @ move)
            rise = 0.5 * float(w @ moved**2) + 0.5 * float(h @ move**2)
            if fall + rise <= 1e-4 * fall or length < SHORTEST:
                break
            length /= 2
        if length < SHORTEST or not fall < 0:
            return v if same else None
        v = np.clip(v + length * p, lower, upper)
        slope = np.asarray(back @ (w * np.asarray(F @ v))) + h * v + c
    return None
