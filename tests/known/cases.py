"""Random sets with a planted face: the set for tiebreak, the same set for the references, and the minimisers
of a linear functional whose ties are exact in floating point (small integers only)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import block_diag

import tiebreak as tb
from known import sets as ref
from known.bounds import ConvexSet, Face

# Integer matrices with orthogonal columns of equal length: exact ties among singular values.
ORTHOGONAL = {
    2: np.array([[3, 4], [-4, 3]]) / 1.0,
    3: np.array([[1, 2, 2], [2, 1, -2], [2, -2, 1]]) / 1.0,
    4: np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 1.0,
}


@dataclass(frozen=True)
class SetCase:
    domain: tb.Domain
    reference: ConvexSet
    face: Face


def _box(rng: np.random.Generator) -> SetCase:
    n = int(rng.integers(4, 9))
    low = rng.integers(-4, 1, n) / 2
    high = low + rng.integers(1, 5, n) / 2
    fixed = rng.permutation(n)[: int(rng.integers(1, n - 2))]
    free = np.setdiff1d(np.arange(n), fixed)
    c, base = np.zeros(n), np.zeros(n)
    c[fixed] = rng.choice([-2.0, -1.0, 1.0, 2.0], fixed.size)
    base[fixed] = np.where(c[fixed] > 0, low[fixed], high[fixed])
    face = Face(c, base, np.eye(n)[:, free], ref.box(low[free], high[free]))
    return SetCase(tb.Box(low, high), ref.box(low, high), face)


def _weighted_l1(rng: np.random.Generator, weights: np.ndarray | None, n: int = 7, radius: float = 2.0) -> SetCase:
    w = np.ones(n) if weights is None else weights
    tied = rng.permutation(n)[: int(rng.integers(2, n))]
    signs = rng.choice([-1.0, 1.0], n)
    c = w * rng.integers(-1, 2, n)
    c[tied] = -2 * signs[tied] * w[tied]
    lift = (np.diag(signs * radius / w))[:, tied]
    return SetCase(
        tb.L1Ball(radius, weights), ref.l1_ball(w, radius), Face(c, np.zeros(n), lift, ref.simplex(tied.size))
    )


def _l1(rng: np.random.Generator) -> SetCase:
    return _weighted_l1(rng, None)


def _l1_weighted(rng: np.random.Generator) -> SetCase:
    return _weighted_l1(rng, rng.choice([0.25, 0.5, 1.0, 2.0], 6), 6)


def _strictly_convex(domain: tb.Domain, reference: ConvexSet, c: np.ndarray, minimiser: np.ndarray) -> SetCase:
    return SetCase(domain, reference, Face(c, minimiser, np.zeros((c.size, 0)), None))


def _l2_at(rng: np.random.Generator, centre: np.ndarray, radius: float) -> SetCase:
    c = rng.integers(1, 4, centre.size) * rng.choice([-1.0, 1.0], centre.size)
    domain = tb.L2Ball(radius, centre) if centre.any() else tb.L2Ball(radius)
    return _strictly_convex(domain, ref.l2_ball(radius, centre), c, centre - radius * c / np.linalg.norm(c))


def _l2(rng: np.random.Generator) -> SetCase:
    return _l2_at(rng, np.zeros(6), float(rng.choice([0.5, 1.0, 3.0])))


def _l2_shifted(rng: np.random.Generator) -> SetCase:
    return _l2_at(rng, rng.integers(1, 4, 6) / 2, 1.0)


def _lp(rng: np.random.Generator, p: float) -> SetCase:
    c = rng.integers(1, 4, 5) * rng.choice([-1.0, 1.0], 5)
    q = p / (p - 1)
    minimiser = -2 * np.sign(c) * np.abs(c) ** (q - 1) / np.linalg.norm(c, q) ** (q - 1)
    return _strictly_convex(tb.LpBall(p, 2.0), ref.lp_ball(p, 2.0, np.zeros(5)), c, minimiser)


def _simplex(rng: np.random.Generator) -> SetCase:
    n, total = 7, float(rng.choice([1.0, 3.0]))
    tied = rng.permutation(n)[: int(rng.integers(2, n))]
    c = rng.integers(1, 4, n).astype(float)
    c[tied] = 0.0
    inner = ref.simplex(tied.size, total)
    return SetCase(tb.Simplex(total), ref.simplex(n, total), Face(c, np.zeros(n), np.eye(n)[:, tied], inner))


def _k_sparse(rng: np.random.Generator) -> SetCase:
    n, k, radius = 8, 3, 0.5
    order, signs = rng.permutation(n), rng.choice([-1.0, 1.0], n)
    sure, tied = order[:1], order[1 : 1 + int(rng.integers(3, 6))]
    c = rng.integers(-1, 2, n).astype(float)
    c[sure], c[tied] = -3 * signs[sure], -2 * signs[tied]
    base = np.zeros(n)
    base[sure] = radius * signs[sure]
    lift = radius * np.diag(signs)[:, tied]
    inner = ref.hypersimplex(tied.size, k - sure.size)
    return SetCase(tb.KSparse(k, radius), ref.k_sparse(n, k, radius), Face(c, base, lift, inner))


def _groups(rng: np.random.Generator) -> SetCase:
    sizes = [2, 1, 3, 2]
    order = rng.permutation(sum(sizes))
    groups = [part.tolist() for part in np.split(order, np.cumsum(sizes)[:-1])]
    c, columns = np.zeros(sum(sizes)), []
    for group, direction in zip(groups, ([3.0, 4.0], [5.0], [0.0, -3.0, 4.0], [1.0, -2.0]), strict=True):
        c[group] = direction
        if np.linalg.norm(direction) == 5:  # three groups tie, the last one loses
            column = np.zeros(c.size)
            column[group] = -2.0 * np.array(direction) / 5
            columns.append(column)
    face = Face(c, np.zeros(c.size), np.column_stack(columns), ref.simplex(len(columns)))
    return SetCase(tb.GroupBall(groups, 2.0), ref.group_ball(groups, 2.0), face)


def _nuclear(rng: np.random.Generator) -> SetCase:
    m, n = 3, int(rng.choice([2, 3, 4]))
    U, V = ORTHOGONAL[m][:, rng.permutation(m)], ORTHOGONAL[n][:, rng.permutation(n)]
    radius, rank, small = 2.0, 2, min(m, n)
    values = np.array([2.0, 2.0, 1.0])[:small]
    C = -(U[:, :small] * values) @ V[:, :small].T
    unit_U, unit_V = U / np.linalg.norm(U[:, 0]), V / np.linalg.norm(V[:, 0])
    lift = radius * np.kron(unit_U[:, :rank], unit_V[:, :rank])  # vec(U H V') for row-major vec
    face = Face(C.ravel(), np.zeros(m * n), lift, ref.spectrahedron(rank))
    return SetCase(tb.NuclearBall((m, n), radius), ref.nuclear_ball((m, n), radius), face)


def _spectrahedron(rng: np.random.Generator) -> SetCase:
    n, rank = int(rng.choice([3, 4])), 2
    U = ORTHOGONAL[n][:, rng.permutation(n)]
    C = (U * np.array([0.0, 0.0, 1.0, 2.0])[:n]) @ U.T
    unit = U[:, :rank] / np.linalg.norm(U[:, 0])
    face = Face(C.ravel(), np.zeros(n * n), np.kron(unit, unit), ref.spectrahedron(rank, 2.0))
    return SetCase(tb.Spectrahedron(n, 2.0), ref.spectrahedron(n, 2.0), face)


def _birkhoff(rng: np.random.Generator) -> SetCase:
    n = int(rng.choice([3, 4]))
    mean = np.mean([np.eye(n)[rng.permutation(n)] for _ in range(3)], axis=0)
    support = mean > 0
    C = np.where(support, 0, rng.integers(1, 3, (n, n))).astype(float)
    face = Face(
        C.ravel(),
        np.zeros(n * n),
        np.eye(n * n)[:, support.ravel()],
        ref.doubly_stochastic(support, mean[support]),
    )
    every = np.ones((n, n), dtype=bool)
    return SetCase(tb.Birkhoff(n), ref.doubly_stochastic(every, np.full(n * n, 1 / n)), face)


def _polyhedron(rng: np.random.Generator) -> SetCase:
    """Facets through a planted point; the face is where the first few hold with equality."""
    n, facets, tight = 6, 8, int(rng.integers(1, 4))
    point = rng.integers(-2, 3, n) / 2
    rows = rng.integers(-3, 4, (facets, n)).astype(float)
    slack = np.where(np.arange(facets) < tight, 0.0, rng.integers(1, 5, facets) / 2)
    E = np.ones((1, n))
    A = np.vstack([rows, np.eye(n), -np.eye(n)])
    b = np.concatenate([rows @ point + slack, np.full(2 * n, 2.0)])
    e = E @ point
    keep = np.arange(A.shape[0]) >= tight
    inner = ref.polytope(A[keep], b[keep], np.vstack([E, rows[:tight]]), np.append(e, b[:tight]), point)
    down = point - 0.05 * np.linalg.pinv(np.vstack([E, rows[:tight]])) @ np.append(0.0, np.ones(tight))
    domain = tb.Polyhedron(rows, b[:facets], E, e, bounds=[(-2.0, 2.0)] * n)
    c = -rng.integers(1, 3, tight) @ rows[:tight]
    return SetCase(domain, ref.polytope(A, b, E, e, down), Face(c, np.zeros(n), np.eye(n), inner))


def _joined(first: SetCase, second: SetCase, domain: tb.Domain) -> SetCase:
    one, two = first.face, second.face
    inners = [face.inner for face in (one, two) if face.inner is not None]
    face = Face(
        np.concatenate([one.normal, two.normal]),
        np.concatenate([one.base, two.base]),
        block_diag(one.lift, two.lift),
        None if not inners else inners[0] if len(inners) == 1 else ref.product(*inners),
    )
    return SetCase(domain, ref.product(first.reference, second.reference), face)


def _product(rng: np.random.Generator) -> SetCase:
    first, second = _l1(rng), _l2(rng)
    domain = tb.Product({"w": (first.domain, first.reference.dim), "v": (second.domain, second.reference.dim)})
    return _joined(first, second, domain)


def _product_of_matrices(rng: np.random.Generator) -> SetCase:
    first, second = _spectrahedron(rng), _box(rng)
    side = int(np.sqrt(first.reference.dim))
    domain = tb.Product({"X": (first.domain, (side, side)), "v": second.domain})
    return _joined(first, second, domain)


def _columns(first: SetCase, second: SetCase, domain: tb.Domain) -> SetCase:
    """A 3 x 2 matrix, its columns in two sets of R^3; x holds it row by row."""
    return _reordered(_joined(first, second, domain), np.arange(6).reshape(2, 3).T.ravel())


def _columns_l1(rng: np.random.Generator) -> SetCase:
    first, second = (_weighted_l1(rng, None, 3, 1.0) for _ in range(2))
    return _columns(first, second, tb.Columns(tb.L1Ball(1.0), (3, 2)))


def _columns_l2(rng: np.random.Generator) -> SetCase:
    first, second = (_l2_at(rng, np.zeros(3), 2.0) for _ in range(2))
    return _columns(first, second, tb.Columns(tb.L2Ball(2.0), (3, 2)))


def _reordered(case: SetCase, order: np.ndarray) -> SetCase:
    """The same set with its coordinates in another order: new x = old x[order]."""
    back, face = np.argsort(order), case.face
    return SetCase(
        case.domain,
        ref.permuted(case.reference, order, back),
        Face(face.normal[order], face.base[order], face.lift[order], face.inner),
    )


SETS = {
    "l1": _l1,
    "l1-weighted": _l1_weighted,
    "l2": _l2,
    "l2-shifted": _l2_shifted,
    "lp-1.5": partial(_lp, p=1.5),
    "lp-3": partial(_lp, p=3.0),
    "box": _box,
    "simplex": _simplex,
    "k-sparse": _k_sparse,
    "groups": _groups,
    "nuclear": _nuclear,
    "spectrahedron": _spectrahedron,
    "birkhoff": _birkhoff,
    "polyhedron": _polyhedron,
    "product": _product,
    "product-matrix": _product_of_matrices,
    "columns-l1": _columns_l1,
    "columns-l2": _columns_l2,
}
