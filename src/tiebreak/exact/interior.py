"""A warm start for level 2 where its solution mixes many vertices: an interior point over the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Vector
from .smooth import Smooth
from .vertex_face import VertexFace
from .vertices import Vertices

LIGHT = 1e-7  # weights below this, relative to the largest, are left to the active set to find


def warm_start(vertices: Vertices, face: VertexFace, lower: Smooth, upper: Smooth) -> Vertices | None:
    """Vertices of the face with the weights that minimise a quadratic f, about; None if the solver gives nothing.

    Minimise 1/2 ||z||^2 + <p, w> over z = F'w - b, E'w = e, w >= 0; the active set then makes it exact.
    """
    k, rows = face.V.shape[0], vertices.E.shape[1]
    E = np.empty((k, rows))
    E[:, 0], E[:, 1:] = 1.0, (face.images(lower) - vertices.t_star) / vertices.s0
    w = _solve(E, face.images(upper), face.linear(upper), upper.b)
    if w is None:
        return None
    fresh = vertices.emptied()
    for i in np.flatnonzero(w > LIGHT * w.max()):
        s = face.vertex(int(i))
        fresh.add(s, fresh.find(s)[0], float(w[i]))
    return fresh


def _solve(E: np.ndarray, F: np.ndarray, p: Vector, b: Vector) -> Vector | None:
    import clarabel

    k, m = F.shape
    eye = sparse.eye_array
    P = sparse.block_diag([sparse.csc_array((k, k)), eye(m)], format="csc")
    blocks: list[list[Any]] = [
        [sparse.csc_array(F.T), -eye(m)],
        [sparse.csc_array(E.T), None],
        [-eye(k), sparse.csc_array((k, m))],
    ]
    A = sparse.csc_array(sparse.block_array(blocks))
    right = np.concatenate([b, [1.0], np.zeros(E.shape[1] - 1 + k)])
    cones = [clarabel.ZeroConeT(m + E.shape[1]), clarabel.NonnegativeConeT(k)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solution = clarabel.DefaultSolver(P, np.concatenate([p, np.zeros(m)]), A, right, cones, settings).solve()
    w = np.asarray(solution.x)[:k]
    return w if np.isfinite(w).all() and w.max() > 0 else None
