"""A warm start for level 2 where its solution mixes many vertices: an interior point over the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..deadline import affordable
from .qp_portfolio import ITERATIONS
from .smooth import Smooth
from .vertex_face import VertexFace
from .vertices import Vertices

LONG = 1e9  # multiplications in one factorisation
LIGHT = 1e-7  # weights below this, relative to the largest, are left to the active set to find


def may_be_dense(upper: Smooth) -> bool:
    """Whether f is quadratic with about one entry a column, so that many vertices may be in use at its minimum.

    With a dense F, there are at most as many as both levels have rows.
    """
    data = upper.data
    return upper.quadratic and data is not None and data.kind == "sparse" and data.raw.nnz <= 2 * upper.dim


def warm_start(vertices: Vertices, face: VertexFace, lower: Smooth, upper: Smooth) -> Vertices | None:
    """Vertices of the face with the weights that minimise f, about; None if that takes long or the solver fails.

    Minimise 1/2 ||z||^2 + <p, w> over z = F'w - b, E'w = e, w >= 0; the active set then makes it exact.
    """
    import piqp

    assert upper.data is not None
    k, m = face.size, upper.size
    work = float(k * vertices.E.shape[1] ** 2)
    if work > LONG or not affordable(ITERATIONS * work):
        return None
    E = np.empty((k, vertices.E.shape[1]))
    E[:, 0], E[:, 1:] = 1.0, (face.images(lower) - vertices.t_star) / vertices.s0
    rows: list[list[Any]] = [[upper.data.raw @ face.V.T, -sparse.eye_array(m)], [sparse.csc_array(E.T), None]]
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.setup(
        sparse.csc_matrix(sparse.block_diag([sparse.csc_array((k, k)), sparse.eye_array(m)])),
        np.concatenate([np.zeros(k) if upper.p is None else face.dots(upper.p), np.zeros(m)]),
        sparse.csc_matrix(sparse.block_array(rows)),
        np.concatenate([upper.b, [1.0], np.zeros(E.shape[1] - 1)]),
        x_l=np.concatenate([np.zeros(k), np.full(m, -np.inf)]),
        x_u=np.full(k + m, np.inf),
    )
    solver.solve()
    w = np.asarray(solver.result.x)[:k]
    if not (np.isfinite(w).all() and w.max() > 0):
        return None
    fresh = vertices.emptied()
    heavy = np.flatnonzero(w > LIGHT * w.max())
    fresh.add(np.array([fresh.atoms.number(face.vertex(int(i))) for i in heavy]), w[heavy])
    return fresh
