"""Many updates of CG-BiO at once on a quadratic problem whose vertices lie on the coordinate axes.

The algorithm is that of ``cg_bio.py`` or ``cg_bio_anytime.py``, whose comments are not repeated, in the coordinates y_i
= x_i / extent_i, in which the vertices are +-e_i. The loop is written once, and runs compiled or as it is
(``tiebreak.kernels``). Nothing is changed by an update that cannot be completed.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...kernels import Group, Kernel
from ...kernels.axis_cut import next_axis_cut
from ...kernels.gradient_mix import blend

DONE, MISSING, HARD, FINISHED = range(4)
"""Why a loop returned: all updates made; it needs a Gram column; a cut at the edge of feasibility, which is left to
the careful code; the stopping test holds."""


class Fixed(NamedTuple):
    """What does not change during the run; the step of update k is scale / (k + shift)**power, at most 1."""

    scale: float
    shift: float
    power: float
    signed: bool
    anytime: bool
    exact: bool
    slack: float
    tol_upper: float
    tol_lower: float


class Numbers(NamedTuple):
    """The numbers of a state: see ``CutState``, and ``LowerRun`` for its run."""

    level: float
    multiplier: float
    f_lower: float
    run_value: float
    run_gap: float
    best_gap: float
    best_lower: float


Updated = tuple[int, int, int, tuple[float, float, float, float, float, float, float]]
"""What a loop returns: the updates made, why it returned, the column it needs, and the entries of ``Numbers``."""


class Gram(NamedTuple):
    """The vectors of a quadratic problem, changed in place.

    The first six are all that the next update needs, so that it does not matter where a chunk ends: y, with gradients
    a and c of f and g there; z, with gradient cz, of the lower run; and ``values``, which are f and g at y, <a, y>,
    <c, y> and <cz, z>, and the two vertices and signs of the last cut. a0 and c0 are the gradients at zero, F[i] and
    G[i] the changes from there to vertex i, where known.
    """

    y: Vector
    a: Vector
    c: Vector
    z: Vector
    cz: Vector
    values: Vector
    a0: Vector
    c0: Vector
    F: Vector
    G: Vector
    F_known: NDArray[np.bool_]
    G_known: NDArray[np.bool_]
    anchor: Vector


def gram_updates(count: int, k: int, fixed: Fixed, v: Gram, n: Numbers) -> Updated:
    """Quadratic f and g: their gradients are affine, so those at a mix of vertices are mixes of known ones.

    ``k`` counts from the first update of Algorithm 1. Returns the updates made, why it returned, which Gram column it
    needs if that is why, and the numbers; the vectors are changed in place.
    """
    y, a, c, z, cz = v.y, v.a, v.c, v.z, v.cz
    f, g, a_y, c_y, cz_z = v.values[0], v.values[1], v.values[2], v.values[3], v.values[4]
    low, low_sign, high, high_sign = int(v.values[5]), v.values[6], int(v.values[7]), v.values[8]
    level, multiplier, f_lower, run_value, run_gap = n.level, n.multiplier, n.f_lower, n.run_value, n.run_gap
    least, value, i, p, gamma_z, gap_z = level, inf, 0, 0.0, 0.0, 0.0
    done, reason, missing = 0, DONE, -1
    while done < count:
        if fixed.anytime:  # conditional gradient on g
            i = int(np.argmax(np.abs(cz)) if fixed.signed else np.argmin(cz))
            p = -1.0 if fixed.signed and cz[i] >= 0 else 1.0
            if not v.G_known[i]:
                reason, missing = MISSING, i
                break
            gap_z = cz_z - p * cz[i]
            bend = gap_z + p * (v.c0[i] + p * v.G[i, i]) - (np.dot(v.c0, z) + p * np.dot(v.G[i], z))
            gamma_z = 2.0 / (k + done + 2)
            if fixed.exact:
                gamma_z = 0.0 if gap_z <= 0 else (1.0 if gap_z >= bend else gap_z / bend)
            value = run_value + gamma_z * (0.5 * gamma_z * bend - gap_z)
            least = min(level, g, value)

        status, weight, i1, s1, i2, s2, lam, error = next_axis_cut(
            a, c, c_y + least + fixed.slack - g, fixed.signed, multiplier, low, low_sign, high, high_sign
        )
        if status >= 2:
            reason = HARD
            break
        for j in (i1, i2):
            if not (v.F_known[j] and v.G_known[j]):
                reason, missing = MISSING, j
        if reason != DONE:
            break
        p1, p2 = weight * s1, (1.0 - weight) * s2
        gap_f, gap_g = a_y - (p1 * a[i1] + p2 * a[i2]), c_y - (p1 * c[i1] + p2 * c[i2])
        f_lower = max(f_lower, f - gap_f - error)
        if not fixed.anytime and gap_f <= fixed.tol_upper and gap_g <= fixed.tol_lower / 2:
            reason = FINISHED
            break

        if fixed.anytime:
            cz_z = blend(cz, v.c0, v.G[i], v.G[i], p, 0.0, gamma_z, z)[1]
            cz_z = (1.0 - gamma_z) * cz_z + gamma_z * p * cz[i]
            z *= 1.0 - gamma_z
            z[i] += gamma_z * p
            if least < level:
                v.anchor[:] = y if g <= value else z
            level, run_value, run_gap = least, value, gap_z
        gamma = min(1.0, fixed.scale / (k + done + fixed.shift) ** fixed.power)
        rest, (F1, F2, G1, G2) = 1.0 - gamma, (v.F[i1], v.F[i2], v.G[i1], v.G[i2])
        s_y, a_y = blend(a, v.a0, F1, F2, p1, p2, gamma, y)  # <grad f(s), y> and <grad f(y+), y>
        s_s = p1 * (v.a0[i1] + p1 * F1[i1] + p2 * F2[i1]) + p2 * (v.a0[i2] + p1 * F1[i2] + p2 * F2[i2])
        f += gamma * (0.5 * gamma * (s_s - s_y + gap_f) - gap_f)
        a_y = rest * a_y + gamma * (p1 * a[i1] + p2 * a[i2])
        s_y, c_y = blend(c, v.c0, G1, G2, p1, p2, gamma, y)
        s_s = p1 * (v.c0[i1] + p1 * G1[i1] + p2 * G2[i1]) + p2 * (v.c0[i2] + p1 * G1[i2] + p2 * G2[i2])
        g += gamma * (0.5 * gamma * (s_s - s_y + gap_g) - gap_g)
        c_y = rest * c_y + gamma * (p1 * c[i1] + p2 * c[i2])
        y *= rest
        y[i1] += gamma * p1
        y[i2] += gamma * p2
        multiplier, low, low_sign, high, high_sign = lam, i1, s1, i2, s2
        done += 1
    v.values[:] = np.array([f, g, a_y, c_y, cz_z, low, low_sign, high, high_sign])
    # the entries of ``Numbers`` as a plain tuple: see ``kernels``
    numbers = (level, multiplier, f_lower, run_value, run_gap, n.best_gap, n.best_lower)
    return done, reason, missing, numbers


fast_gram_updates = Kernel(gram_updates, Group("the updates of CG-BiO on quadratics", 5.0))
