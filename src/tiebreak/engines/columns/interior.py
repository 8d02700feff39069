"""A warm start for level 2 where its solution mixes many vertices: an interior point over the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.deadline import affordable
from ...numerics.foreign import FEWEST_ITERATIONS
from .face import AxisFace, images
from .level import Smooth
from .vertices import Vertices

MOST_WORK = 1e9  # multiplications in one factorisation
LIGHT = 1e-7  # weights below this, relative to the largest, are left to the active set to find


def may_be_dense(upper: Smooth) -> bool:
    """Whether f is quadratic with about one entry a column, so that many vertices may be in use at its minimum.

    With a dense F, there are at most as many as both levels have rows.
    """
    data = upper.data
    return upper.quadratic and data is not None and data.kind == "sparse" and data.raw.nnz <= 2 * upper.dim


def warm_start(vertices: Vertices, face: AxisFace, lower: Smooth, upper: Smooth) -> Vertices | None:
    """Vertices of the face with the weights that minimise f, about; None if that takes long or the solver fails.

    Minimise 1/2 ||z||^2 + <p, w> over z = F'w - b, E'w = e, w >= 0; the active set then makes it exact.
    """
    from ...numerics import piqp

    assert upper.data is not None
    k, m = face.size, upper.size
    work = float(k * vertices.E.shape[1] ** 2)
    if work > MOST_WORK or not affordable(FEWEST_ITERATIONS * work):
        return None
    E = np.empty((k, vertices.E.shape[1]))
    E[:, 0], E[:, 1:] = 1.0, (images(face, lower) - vertices.t_star) / vertices.s0
    rows: list[list[Any]] = [[upper.data.raw @ face.V.T, -sparse.eye_array(m)], [sparse.csc_array(E.T), None]]
    right = np.concatenate([upper.b, [1.0], np.zeros(E.shape[1] - 1)])
    found = piqp.solve(
        sparse.block_diag([sparse.csc_array((k, k)), sparse.eye_array(m)]),
        np.concatenate([np.zeros(k) if upper.p is None else face.dots(upper.p), np.zeros(m)]),
        sparse.csr_array(sparse.block_array(rows)),
        right,
        right,
        np.concatenate([np.zeros(k), np.full(m, -np.inf)]),
        np.full(k + m, np.inf),
    )
    w = found.x[:k]
    if not (np.isfinite(w).all() and w.max() > 0):
        return None
    fresh = vertices.emptied()
    heavy = np.flatnonzero(w > LIGHT * w.max())
    fresh.add(np.array([fresh.atoms.number(face.vertex(int(i))) for i in heavy]), w[heavy])
    return fresh
