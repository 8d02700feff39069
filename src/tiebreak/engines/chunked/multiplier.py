"""The multiplier of the images, by a linear programme of the small problem: any proves something, this one enough."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...arrays import Vector
from ...numerics.failures import LinearProgramError
from ...numerics.linear_programme import LinearProgram
from ...numerics.rows import Rows, power_of_two
from ...sets.base import Domain
from .triangle import Reduced

MISSED = 1e-12  # of the sizes of the terms: room for points that miss the images by rounding


def weights(model: Reduced, domain: Domain, x: Vector, slope: Vector) -> Vector:
    """w such that min over Z of <slope + H w, s - x> is (nearly) zero at x, H = F'F; zeros where none is found.

    x minimises <slope, s> over the points of Z with the images F x; w comes from the multipliers of these rows.
    """
    images, nothing = model.basis * model.columns, np.zeros(x.size)
    if not len(images):
        return nothing
    if domain.rows is None:
        prices = -np.linalg.lstsq(images.T, slope, rcond=None)[0]
    else:
        found = _prices(images, domain, x, slope)
        if found is None:
            return nothing
        prices = found
    return np.asarray(model.basis.T @ (prices / model.sizes**2) / model.columns)


def _prices(images: np.ndarray, domain: Domain, x: Vector, slope: Vector) -> Vector | None:
    """Of the rows images s = images x: the multipliers with which the slope vanishes on them."""
    at = np.abs(images).sum(axis=1)
    images = images / at[:, None]
    middle, room = images @ x, MISSED * (np.abs(images) @ np.abs(x))
    size = np.abs(slope).max(initial=0.0)
    if not size:
        return np.zeros(len(images))
    scale = power_of_two(np.full(x.size, max(np.abs(x).max(initial=0.0), 1e-300)))
    rows = _with(domain, images, middle)
    scale = np.append(scale, np.full(rows.A.shape[1] - x.size, scale[0]))
    cost = np.append(slope / size, np.zeros(rows.A.shape[1] - x.size))
    for ends in (0.0, room):
        low, high = rows.low.copy(), rows.high.copy()
        low[-len(images) :], high[-len(images) :] = middle - ends, middle + ends
        try:
            solution = LinearProgram(rows._replace(low=low, high=high), scale).solve(cost)
        except (LinearProgramError, ArithmeticError):
            continue
        duals = np.asarray(solution.duals, dtype=np.float64)[-len(images) :]
        return np.asarray(-size * duals / at)
    return None


def _with(domain: Domain, images: np.ndarray, middle: Vector) -> Rows:
    """The rows of Z with further variables for absolute values where it mentions them, and the images below."""
    own = domain.rows
    assert own is not None
    dim = images.shape[1]
    if not own.limits_sizes:
        A, low, high, lower, upper = own.A, own.low, own.high, own.lower, own.upper
        more = 0
    else:
        assert own.B is not None
        more, eye = dim, sp.eye_array(dim)
        A = sp.vstack([sp.hstack([own.A, own.B]), sp.hstack([-eye, eye]), sp.hstack([eye, eye])])
        low = np.concatenate([own.low, np.zeros(2 * dim)])
        high = np.concatenate([own.high, np.full(2 * dim, np.inf)])
        lower, upper = np.append(own.lower, np.zeros(dim)), np.append(own.upper, np.full(dim, np.inf))
    A = sp.csr_array(sp.vstack([A, sp.hstack([sp.csr_array(images), sp.csr_array((len(images), more))])]))
    return Rows(A, np.append(low, middle), np.append(high, middle), lower, upper)
