"""What sets say of themselves against their own oracles: rows, axes, signs, faces, sizes; what stand-ins pass on."""

from __future__ import annotations

import inspect
from collections import Counter

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.sets import Domain
from tiebreak.watch import _WatchedDomain

D = 6
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
SETS = {
    "box": tb.Box([-1.0, 0.0, 0.5, -2.0, -1.0, 0.0], [1.0, 2.0, 2.0, -0.5, 0.0, 0.0]),
    "box about zero": tb.Box(-2.0, 0.5),
    "l1 ball": tb.L1Ball(1.5),
    "weighted l1 ball": tb.L1Ball(1.5, WEIGHTS),
    "k-sparse": tb.KSparse(2, 0.8),
    "simplex": tb.Simplex(1.5),
    "polyhedron": tb.Polyhedron(A_ub=[WEIGHTS], b_ub=[1.0], A_eq=[np.ones(D)], b_eq=[0.5], bounds=(-2, 1)),
    "without some bounds": tb.Polyhedron(A_ub=[np.ones(D), WEIGHTS], b_ub=[3.0, 4.0], bounds=(-1, None)),
    "product": tb.Product({"a": (tb.Simplex(), 2), "b": (tb.L1Ball(1.0), 3), "c": tb.Box(-1.0, [0.5])}),
    "columns": tb.Columns(tb.KSparse(2, 0.5), (3, 2)),
    "columns of polyhedra": tb.Columns(tb.Polyhedron(A_ub=[[1.0, 2.0]], b_ub=[2.0], bounds=(0, None)), (2, 3)),
    "product of polyhedra": tb.Product(
        {
            "a": tb.Polyhedron(A_ub=[[1.0, 2.0]], b_ub=[2.0], bounds=(0, None)),
            "b": tb.Box([0.5], 1.0),
            "c": (tb.Simplex(2.0), 3),
        }
    ),
    "l2 ball": tb.L2Ball(1.2, np.array([1.0, 2.0, 0.0, -1.0, 0.0, 0.5])),
    "group ball": tb.GroupBall([0, 0, 1, 1, 1, 2], 1.3),
    "nuclear ball": tb.NuclearBall((2, 3), 1.0),
}
WITH_ROWS = [name for name in SETS if name not in ("l2 ball", "group ball", "nuclear ball")]


def sized(name: str) -> Domain:
    return SETS[name].with_dim(D)


def corners(domain: Domain, count: int = 60) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.array([domain.lmo(c) for c in (*np.eye(D), *-np.eye(D), *rng.standard_normal((count, D)))])


@pytest.mark.parametrize("name", WITH_ROWS)
def test_the_rows_hold_at_the_points_of_the_set_and_nowhere_else(name: str) -> None:
    domain = sized(name)
    rows = domain.rows
    rng = np.random.default_rng(2)
    vertices = corners(domain)
    inside = rng.dirichlet(np.ones(len(vertices)), 40) @ vertices
    outside = inside + 0.3 * rng.standard_normal(inside.shape)
    for x in (*vertices, *inside, *outside):
        activity = rows.A @ x + (0.0 if rows.B is None else rows.B @ np.abs(x))
        misses = (rows.low - activity, activity - rows.high, rows.lower - x, x - rows.upper)
        met = max(part.max(initial=-np.inf) for part in misses) <= 1e-12
        assert met == domain.contains(x, 1e-9)
    assert rows.limits_sizes == (rows.absolute.size > 0)


@pytest.mark.parametrize("name", WITH_ROWS)
def test_the_outer_box_is_finite_and_holds_the_set(name: str) -> None:
    domain = sized(name)
    lower, upper = domain.outer_box
    assert np.isfinite(lower).all() and np.isfinite(upper).all()
    vertices = corners(domain)
    assert (vertices >= lower - 1e-9).all() and (vertices <= upper + 1e-9).all()
    if not domain.rows.limits_sizes:
        given, box, point = domain.polyhedral
        assert domain.contains(point, 1e-12)
        assert given.A.shape == box.A.shape == domain.rows.A.shape
        assert np.isfinite(box.lower).all() and np.isfinite(box.upper).all()


@pytest.mark.parametrize("name", SETS)
def test_signs_and_sizes(name: str) -> None:
    domain = sized(name)
    vertices, signs = corners(domain), sized(name).signs(D)
    assert (vertices * signs >= 0).all()
    rng = np.random.default_rng(3)
    for size in (np.zeros(D), np.ones(D), *rng.exponential(size=(5, D))):
        assert domain.largest(size) >= float((np.abs(vertices) @ size).max()) - 1e-12
    if domain.polytope:  # what brackets are made of is no guess
        size = rng.exponential(size=D)
        assert domain.largest(size) == pytest.approx(float((np.abs(corners(domain, 4000)) @ size).max()), rel=1e-6)


@pytest.mark.parametrize("name", ["l1 ball", "weighted l1 ball", "simplex"])
def test_axes_are_the_vertices(name: str) -> None:
    domain = sized(name)
    extents, signed, weights = domain.axes
    assert np.ptp(np.broadcast_to(weights, D) * extents) <= 1e-15
    found = {tuple(np.round(v, 12)) for v in corners(domain, 2000) + 0.0}
    own = np.vstack([np.diag(extents), -np.diag(extents)]) if signed else np.diag(extents)
    assert found == {tuple(np.round(v, 12)) for v in own + 0.0}


@pytest.mark.parametrize("name", ["box", "box about zero", "k-sparse"])
@pytest.mark.parametrize("seed", range(8))
def test_a_face_holds_all_minimisers_within_the_doubt(name: str, seed: int) -> None:
    domain, rng = sized(name), np.random.default_rng(seed)
    slope = rng.integers(-2, 3, D).astype(float)  # with ties
    doubt = rng.choice([0.0, 0.0, 0.6], D)
    face = domain.optimal_face(slope, doubt, 10**6)
    listed = np.array([face.vertex(i) for i in range(face.size)])
    assert all(domain.contains(v, 0.0) and face.holds(v) for v in listed)
    assert (np.linalg.matrix_rank(listed[1:] - listed[0]) if len(listed) > 1 else 0) == face.dimension
    for _ in range(60):
        c = slope + doubt * rng.uniform(-1, 1, D)
        assert face.holds(domain.lmo(c))
        assert face.least(c) == pytest.approx(c @ domain.lmo(c), abs=1e-12)
    apart = domain.optimal_face(slope, np.zeros(D), 10**6).separated(slope)
    assert domain.optimal_face(apart, np.zeros(D), 10**6).dimension <= face.dimension
    assert slope @ domain.lmo(apart) == pytest.approx(slope @ domain.lmo(slope), abs=1e-12)
    assert domain.optimal_face(slope, np.full(D, 9.0), 3) is None  # too large to be listed


def test_products_know_their_parts() -> None:
    x = np.arange(6.0)
    product, columns = SETS["product"], SETS["columns"]
    assert [x[where].tolist() for _, where in product.parts] == [[0, 1], [2, 3, 4], [5]]
    assert [x[where].tolist() for _, where in columns.parts] == [[0, 2, 4], [1, 3, 5]]
    assert product.parts[1][0] is product.factor("b") and columns.parts[1][0] is columns.each


def test_a_set_that_gets_its_dimension_forgets_what_it_said_without() -> None:
    for domain in (tb.L1Ball(1.0), tb.Simplex(), tb.KSparse(1, 1.0), tb.Box(0.0, 1.0)):
        assert domain.rows is None and domain.axes is None
        assert domain.with_dim(3).rows.lower.size == 3


class Disc(tb.Domain):
    """A user's own set: four methods and nothing else."""

    diameter = 2.0

    def lmo(self, c: np.ndarray) -> np.ndarray:
        return np.array([3.0, 0.0]) - c / (np.linalg.norm(c) or 1.0)

    def project(self, x: np.ndarray) -> np.ndarray:
        offset = x - [3.0, 0.0]
        return x - offset * max(0.0, 1 - 1 / (np.linalg.norm(offset) or 1.0))

    def contains(self, x: np.ndarray, tol: float = 1e-9) -> bool:
        return bool(np.linalg.norm(x - [3.0, 0.0]) <= 1 + tol)


def test_a_users_set_says_nothing_and_is_solved_all_the_same() -> None:
    disc = Disc().with_dim(2)
    assert disc.rows is disc.axes is disc.split_rows is disc.each is None and disc.parts == ()
    assert disc.signs(2).tolist() == [0, 0] and not disc.shrinks and not disc.polytope
    assert disc.largest(np.array([1.0, 0.0])) >= 4.0
    result = tb.solve(tb.Problem(tb.Linear([0.0, 1.0]), tb.SquaredNorm(dim=2), disc), tol_upper=1e-3, tol_lower=1e-3)
    assert result.success and result.x == pytest.approx([2.0, 0.0], abs=0.1)


@pytest.mark.parametrize("name", SETS)
def test_stand_ins_say_what_the_set_says(name: str) -> None:
    domain = sized(name)
    calls: Counter[str] = Counter()
    stand_in = _WatchedDomain(domain, "domain", calls)
    facts = {key for key, value in inspect.getmembers_static(Domain) if not key.startswith("_")}
    facts -= {"lmo", "lmo_bound", "lmo_cut", "project", "project_cut", "contains", "distance_outside", "with_dim"}
    for fact in facts - {
        "signs",
        "shrinks_groups",
        "largest",
        "optimal_face",
        "identity",
        "outer_box",
        "polyhedral",
        "boundary",
    }:
        own, passed = getattr(domain, fact), getattr(stand_in, fact)
        assert own is passed or (fact == "axes" and np.array_equal(own.extents, passed.extents)) or own == passed, fact
    labels, size = np.array([0, 0, 1, 1, 1, 2]), np.ones(D)
    assert stand_in.signs(D).tolist() == domain.signs(D).tolist()
    assert stand_in.shrinks_groups(labels) == domain.shrinks_groups(labels)
    assert stand_in.largest(size) == domain.largest(size)
    near, seen = domain.boundary(domain.some_point()), stand_in.boundary(domain.some_point())
    assert (near is None) == (seen is None)
    assert near is None or np.array_equal(near.rows, seen.rows)
    assert (stand_in.optimal_face(size, size, 10**6) is None) == (domain.optimal_face(size, size, 10**6) is None)
    if domain.rows is not None:
        assert np.array_equal(stand_in.outer_box, domain.outer_box)
    assert not calls


@pytest.mark.parametrize("name", SETS)
def test_the_conformance_checks_agree(name: str) -> None:
    assert tb.testing.check_set(SETS[name], D) > 50


class Wrong(tb.Simplex):
    """Says of itself what is not so."""

    def __init__(self, **said: object) -> None:
        super().__init__(1.0)
        self.said = said

    rows = property(lambda self: self.said.get("rows", super().rows))
    axes = property(lambda self: self.said.get("axes", super().axes))

    def signs(self, dim: int) -> np.ndarray:
        return np.full(dim, self.said.get("sign", 1.0))

    def largest(self, size: np.ndarray) -> float:
        return self.said.get("share", 1.0) * super().largest(size)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"rows": tb.Simplex(2.0).with_dim(4).rows}, "in the set"),
        ({"rows": tb.Box(0.0, 0.25, dim=4).rows}, "in the set|minima over the rows"),
        ({"rows": tb.Polyhedron(A_eq=[np.ones(4)], b_eq=[1.0], bounds=(0, 0.5)).rows}, "minima over the rows"),
        ({"axes": tb.L1Ball(1.0).with_dim(4).axes}, "axes"),
        ({"sign": -1.0}, "signs"),
        ({"share": 0.5}, "largest"),
    ],
)
def test_the_conformance_checks_find_what_is_not_so(said: dict, sentence: str) -> None:
    assert tb.testing.check_set(Wrong(), 4) > 50
    with pytest.raises(AssertionError, match=sentence):
        tb.testing.check_set(Wrong(**said), 4)
