"""Many updates of CG-BiO at once on a dictionary learning problem: two reconstruction errors, balls and l1 balls.

Written and compiled as ``gram_loop.py``. All is computed afresh from D and X in every update, into the same arrays:
five products of matrices, a pass over D for the cut, a pass over X for its corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..objectives.base import Objective
from ..objectives.reconstruction import Reconstruction
from ..sets.ball_columns import ball_cut, inner
from ..sets.base import Domain
from ..sets.columns import Columns
from ..sets.l1 import L1Ball
from ..sets.l2 import L2Ball
from ..sets.product import Product
from .gram_loop import DONE, FINISHED, HARD, Fixed, Numbers, Updated


class Factors(NamedTuple):
    """The matrices of a problem; ``x`` is D and X, one after the other, and is changed in place, as is the best x.

    ``A`` is the new data; ``old`` stands for the old data, with the ``codes`` of the first atoms, and ``constant`` is
    the part of their error that no atom changes.
    """

    x: Vector
    D: Matrix
    X: Matrix
    A: Matrix
    old: Matrix
    codes: Matrix
    constant: float
    radius: float
    best: Vector


def corners(X: Matrix, slope: Matrix, radius: float) -> tuple[NDArray[np.intp], float]:
    """Which entry of each column is nonzero in the minimiser S of <slope, .> over l1 balls, and <slope, X - S>."""
    place = np.abs(slope).argmax(axis=0)
    largest = np.abs(slope[place, np.arange(X.shape[1])])
    return place, float(np.vdot(slope, X)) + radius * float(largest.sum())


def move_to_corners(X: Matrix, place: NDArray[np.intp], slope: Matrix, radius: float, gamma: float) -> None:
    """Move X by gamma towards S."""
    columns = np.arange(X.shape[1])
    X *= 1.0 - gamma
    X[place, columns] -= np.where(slope[place, columns] >= 0, gamma * radius, -gamma * radius)


def copy_columns(source: Matrix, target: Matrix) -> None:
    """Copy as many columns as both have."""
    shared = min(source.shape[1], target.shape[1])
    target[:, :shared] = source[:, :shared]


def factor_updates(count: int, k: int, fixed: Fixed, v: Factors, n: Numbers) -> Updated:
    """Many updates, as ``gram_updates``."""
    D, X, known = v.D, v.X, len(v.codes)
    R, slope_D, slope_X, cut = np.empty(v.A.shape), np.empty(D.shape), np.empty(X.shape), np.zeros(D.shape)
    atoms, left, slope = np.empty((len(D), known)), np.empty(v.old.shape), np.empty((len(D), known))
    S = np.empty(D.shape)
    multiplier, best_gap, best_lower = n.multiplier, n.best_gap, n.best_lower
    allowed = n.level + fixed.slack + fixed.tol_lower / 2
    done, reason = 0, DONE
    while done < count:
        np.dot(D, X, R)
        R -= v.A
        np.dot(R, X.T, slope_D)
        np.dot(D.T, R, slope_X)
        copy_columns(D, atoms)
        np.dot(atoms, v.codes, left)
        left -= v.old
        g = v.constant + 0.5 * inner(left, left)
        np.dot(left, v.codes.T, slope)
        copy_columns(slope, cut)
        b = inner(slope, atoms) + n.level + fixed.slack - g
        status, lam, _ = ball_cut(slope_D, cut, b, multiplier, 0.0, S)
        if status >= 2:
            reason = HARD
            break
        S -= D
        place, gap_X = corners(X, slope_X, v.radius)
        gap_f, gap_g = gap_X - inner(slope_D, S), -inner(cut, S)
        if g <= allowed and gap_f < best_gap:
            best_gap, best_lower = gap_f, g
            v.best[:] = v.x
        if gap_f <= fixed.tol_upper and gap_g <= fixed.tol_lower / 2:
            reason = FINISHED
            break
        gamma = min(1.0, fixed.scale / (k + done + fixed.shift) ** fixed.power)
        S *= gamma
        D += S
        move_to_corners(X, place, slope_X, v.radius, gamma)
        multiplier = lam
        done += 1
    numbers = (
        n.level,
        multiplier,
        n.f_lower,
        n.run_value,
        n.run_gap,
        best_gap,
        best_lower,
    )  # a plain tuple: see ``kernels``
    return done, reason, -1, numbers


def factor_radius(domain: Domain, f: Objective, g: Objective) -> float | None:
    """The radius of the l1 balls, where this is the problem of the loop; None where it is another one."""
    if not (isinstance(f, Reconstruction) and isinstance(g, Reconstruction) and isinstance(domain, Product)):
        return None
    if f.codes is not None or g.codes is None or len(domain.names) != 2:
        return None
    first, second = (domain.factor(name) for name in domain.names)
    if not (isinstance(first, Columns) and isinstance(second, Columns)):
        return None
    ball, diamond = first.each, second.each
    unit = type(ball) is L2Ball and ball.radius == 1.0 and not np.any(ball.center)
    m, n = f.data.shape
    same = first.shape == (m, f.atoms) and second.shape == (f.atoms, n) and g.data.shape[0] == m and g.atoms == f.atoms
    return diamond.radius if unit and same and type(diamond) is L1Ball and diamond.weights is None else None
