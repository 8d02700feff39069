"""References for the sets with structure: a linear programme, or the dual maximised in extended precision."""

from __future__ import annotations

import numpy as np
from references import cut_by_dual_search, solve_lp

from tiebreak.sets.columns import Columns
from tiebreak.sets.group import GroupBall
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.l2 import L2Ball
from tiebreak.sets.product import Product
from tiebreak.sets.simplex import Simplex


def minimum(domain, v):
    """min <v, .> by the formula of the set, in the precision of v."""
    if isinstance(domain, L1Ball):
        return -domain.radius * np.abs(v).max()
    if isinstance(domain, Simplex):
        return domain.total * v.min()
    if isinstance(domain, L2Ball):
        return np.sum(v * domain.center) - domain.radius * np.sqrt(v @ v)
    if isinstance(domain, GroupBall):
        groups = [v[domain._labels == g] for g in range(domain._labels.max() + 1)]
        return -domain.radius * max(np.sqrt(part @ part) for part in groups)
    if isinstance(domain, Columns):
        return sum(minimum(domain.each, column) for column in v.reshape(domain.shape).T)
    assert isinstance(domain, Product)
    ends = np.cumsum([np.prod(shape) for shape in domain.shapes.values()])[:-1]
    blocks = zip(domain.names, np.split(v, ends), strict=True)
    return sum(minimum(domain._domains[name], part) for name, part in blocks)


def by_formula(domain, a, c, b):
    return cut_by_dual_search(lambda v: minimum(domain, v), a, c, b)


def nuclear_ball(domain, a, c, b):
    def value(v):
        return -domain.radius * np.linalg.norm(np.asarray(v, dtype=float).reshape(domain.shape), 2)

    return cut_by_dual_search(value, a, c, b)


def spectrahedron(domain, a, c, b):
    def value(v):
        V = np.asarray(v, dtype=float).reshape(domain.shape)
        return domain.trace * np.linalg.eigvalsh((V + V.T) / 2)[0]

    return cut_by_dual_search(value, a, c, b)


def birkhoff(domain, a, c, b):
    n = domain.shape[0]
    A = np.vstack([np.kron(np.eye(n), np.ones((1, n))), np.kron(np.ones((1, n)), np.eye(n))])
    return solve_lp(a, c, b, A_eq=A, b_eq=np.ones(2 * n), bounds=(0, 1))


def polyhedron(domain, a, c, b):
    """In units of the box around the set."""
    rows = domain._given
    scale = np.maximum(np.abs(domain._box.lower), np.abs(domain._box.upper))
    scale[scale == 0] = 1.0
    A = rows.A.toarray() * scale
    norms = np.abs(A).max(axis=1)
    A, low, high = A / norms[:, None], rows.low / norms, rows.high / norms
    tied = low == high
    constraints = {"A_ub": A[~tied], "b_ub": high[~tied]} if (~tied).any() else {}
    if tied.any():
        constraints |= {"A_eq": A[tied], "b_eq": high[tied]}
    bounds = np.column_stack([rows.lower / scale, rows.upper / scale])
    return solve_lp(a * scale, c * scale, b, bounds=bounds, **constraints)
