"""Many updates of CG-BiO at once on a dictionary learning problem: two reconstruction errors, balls and l1 balls.

Written and compiled as ``gram_loop.py``. All is computed afresh from D and X in every update, into the same arrays:
five products of matrices, a pass over D for the cut, a pass over X for its corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Matrix, Vector
from ...kernels import Group, Kernel
from ...kernels.l1_corners import copy_columns, corners, move_to_corners
from ...kernels.unit_balls import inner
from ...objectives.reconstruction import Dictionary
from ...sets.base import Domain
from ...sets.cuts.ball_columns import ball_cut
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
    # the entries of ``Numbers`` as a plain tuple: see ``kernels``
    return done, reason, -1, (n.level, multiplier, n.f_lower, n.run_value, n.run_gap, best_gap, best_lower)


fast_factor_updates = Kernel(factor_updates, Group("the updates of CG-BiO on dictionaries", 9.0))


def factor_radius(domain: Domain, given: Dictionary) -> float | None:
    """The radius of the l1 balls, where this is the domain of the loop; None where it is another one."""
    if domain.by_user or len(domain.parts) != 2:
        return None
    (first, _), (second, _) = domain.parts
    ball, diamond = first.each, None if second.each is None else second.each.axes
    if ball is None or ball.euclidean_radius != 1.0 or diamond is None or not diamond.signed:
        return None
    (m, n), atoms = given.data.shape, given.atoms
    same = (ball.dim, first.dim, diamond.extents.size, second.dim) == (m, m * atoms, atoms, atoms * n)
    return float(diamond.extents[0]) if same and np.isscalar(diamond.weights) else None
