"""Many updates of CG-BiO at once on a fair classification problem: a squared covariance over the logistic loss.

Written and compiled as ``gram_loop.py``, in the same coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...kernels import Group, Kernel
from ...kernels.axis_cut import next_axis_cut
from ...kernels.logistic_loss import fair_links, two_products
from .gram_loop import DONE, FINISHED, HARD, Fixed, Numbers, Updated


class Fair(NamedTuple):
    """The vectors of a problem with a logistic lower and a squared covariance as upper level on the same data.

    y, its predictions t, and the vertices and signs of the last cut, all changed in place, as is the best y; then the
    data with one feature a row, the signs and weights of the loss, and the centred attribute.
    """

    y: Vector
    t: Vector
    similar: Vector
    rows: Vector
    signs: Vector
    weights: Vector
    attribute: Vector
    best: Vector


def fair_updates(count: int, k: int, fixed: Fixed, v: Fair, n: Numbers) -> Updated:
    """Many updates, as ``gram_updates``: t moves along two rows, and two products give both gradients."""
    y, t = v.y, v.t
    multiplier, best_gap, best_lower = n.multiplier, n.best_gap, n.best_lower
    allowed = n.level + fixed.slack + fixed.tol_lower / 2
    low, low_sign, high, high_sign = int(v.similar[0]), v.similar[1], int(v.similar[2]), v.similar[3]
    done, reason = 0, DONE
    while done < count:
        g, slope, covariance, weight_f = fair_links(t, v.signs, v.weights, v.attribute)
        c, a = two_products(v.rows, slope, weight_f)
        a *= 2.0 * covariance
        c_y = np.dot(c, y)
        status, weight, i1, s1, i2, s2, lam, _ = next_axis_cut(
            a, c, c_y + n.level + fixed.slack - g, fixed.signed, multiplier, low, low_sign, high, high_sign
        )
        if status >= 2:
            reason = HARD
            break
        p1, p2 = weight * s1, (1.0 - weight) * s2
        gap_f = np.dot(a, y) - (p1 * a[i1] + p2 * a[i2])
        gap_g = c_y - (p1 * c[i1] + p2 * c[i2])
        if g <= allowed and gap_f < best_gap:
            best_gap, best_lower = gap_f, g
            v.best[:] = y
        if gap_f <= fixed.tol_upper and gap_g <= fixed.tol_lower / 2:
            reason = FINISHED
            break
        gamma = min(1.0, fixed.scale / (k + done + fixed.shift) ** fixed.power)
        t *= 1.0 - gamma
        t += (gamma * p1) * v.rows[i1] + (gamma * p2) * v.rows[i2]
        y *= 1.0 - gamma
        y[i1] += gamma * p1
        y[i2] += gamma * p2
        multiplier, low, low_sign, high, high_sign = lam, i1, s1, i2, s2
        done += 1
    v.similar[:] = np.array([low, low_sign, high, high_sign])
    # the entries of ``Numbers`` as a plain tuple: see ``kernels``
    return done, reason, -1, (n.level, multiplier, n.f_lower, n.run_value, n.run_gap, best_gap, best_lower)


fast_fair_updates = Kernel(fair_updates, Group("the updates of CG-BiO on fair classification", 3.0))
