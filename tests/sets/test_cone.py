"""Sets by cones: their oracles against sets with closed forms, what is proved of them, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.numerics.cones import Nonnegative, SecondOrder, Semidefinite, least_eigenvalue
from tiebreak.numerics.exact import Exact, is_definite, root
from tiebreak.numerics.extended import double, ext
from tiebreak.numerics.unsymmetric_cones import Exponential, Power
from tiebreak.testing import check_set


def ball(n: int, center: np.ndarray, radius: float) -> tb.Cone:
    A = np.vstack([np.zeros(n), -np.eye(n)])
    return tb.Cone(A, np.r_[radius, -center], [("second-order", n + 1)])


def spectrahedron(n: int, kind: str, trace: float = 1.0) -> tb.Cone:
    """In the entries of the upper triangle, column by column."""
    apart = np.array([i != j for j in range(n) for i in range(j + 1)])
    scale = np.where(apart, np.sqrt(2) if kind == "semidefinite" else 1.0, 1.0)
    A = np.vstack([(~apart).astype(float), -np.diag(scale)])
    return tb.Cone(A, np.r_[trace, np.zeros(scale.size)], [("zero", 1), (kind, n)])


SETS = {
    "ball": ball(3, np.array([1.0, -2.0, 0.5]), 1.5),
    "ball in large units": ball(3, 1e6 * np.array([1.0, -2.0, 0.5]), 1.5e6),
    "ball in small units": ball(2, 1e-6 * np.array([1.0, -2.0]), 1.5e-6),
    "cut ball": tb.Cone(
        [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]],
        [1.0, 1.0, -1.0, 0.0],
        [("nonnegative", 1), ("second-order", 3)],
    ),
    "spectrahedron": spectrahedron(3, "semidefinite"),
    "spectrahedron by a triangle": spectrahedron(3, "triangle"),
    "exponential": tb.Cone(
        [[-1, 0, 0], [0, -1, 0], [0, 0, -1], [0, 0, 1], [-1, 0, 0], [1, 0, 0]],
        [0, 0, 0, 2, 3, 1],
        [("exponential", 3), ("nonnegative", 3)],
    ),
    "power": tb.Cone(
        [[-1.0, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 0]], [0, 0, 0, 2.0], [("power", 0.3), ("nonnegative", 1)]
    ),
    "without bounds": tb.Cone(-np.eye(3), np.zeros(3), [("second-order", 3)]),
    "twice the same equality": tb.Cone(
        [[1, 1], [2, 2], [0, 0], [-1, 0], [0, -1]], [1.0, 2.0, 1.0, 0.0, 0.0], [("zero", 2), ("second-order", 3)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_the_oracles_agree(name: str) -> None:
    assert check_set(SETS[name], trials=4) > 20


def test_a_ball_is_the_ball() -> None:
    center = np.array([1.0, -2.0, 0.5])
    Z, same = SETS["ball"], tb.L2Ball(1.5, center).with_dim(3)
    rng = np.random.default_rng(3)
    for scale in (1e-6, 1.0, 1e6):
        c = scale * rng.standard_normal(3)
        s = Z.lmo(c)
        least = float(c @ same.lmo(c))
        assert least - 1e-7 * scale <= Z.lmo_bound(c, s) <= least + 1e-13 * scale
        x = center + 10 * rng.standard_normal(3)
        assert np.allclose(Z.project(x), same.project(x), atol=1e-6)
        away = float(np.linalg.norm(x - same.project(x)))
        assert away * (1 - 1e-12) <= Z.distance_outside(x) <= 1.001 * away
    assert 3.0 <= Z.diameter <= 12.0
    assert Z.distance_outside(center) == 0.0


@pytest.mark.parametrize("kind", ["semidefinite", "triangle"])
def test_a_spectrahedron_is_the_spectrahedron(kind: str) -> None:
    Z, rng = spectrahedron(4, kind, 2.0), np.random.default_rng(4)
    for _ in range(3):
        C = rng.standard_normal((4, 4))
        c = np.array([C[i, j] + C[j, i] if i != j else C[i, i] for j in range(4) for i in range(j + 1)])
        least = 2.0 * np.linalg.eigvalsh((C + C.T) / 2)[0]
        assert least - 1e-6 <= Z.lmo_bound(c, Z.lmo(c)) <= least + 1e-12
    assert Z.diameter >= np.sqrt(2) * 2.0 * 0.7  # in the entries of the triangle


def test_a_set_without_curved_cones_is_the_polyhedron() -> None:
    A, b = np.array([[1.0, 1.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]), np.array([1.0, 0, 0, 0])
    Z = tb.Cone(A, b, [("zero", 1), ("nonnegative", 3)])
    problem = tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([1.0, 1.0, 2.0]), Z)
    assert tb.plan(problem).engine == "rows"
    result = tb.solve(problem)
    assert np.allclose(result.x, [0.5, 0.5, 0.0], atol=1e-9) and result.success


def test_a_set_without_a_point_with_room_has_fewer_digits() -> None:
    rows = np.vstack([np.eye(2), -np.eye(2), [[0, 0], [-1, 0], [0, -1]]])
    point = np.array([1.0, 0.5])
    Z = tb.Cone(rows, np.r_[point, -point, 2.0, 0.0, 0.0], [("nonnegative", 4), ("second-order", 3)])
    assert np.allclose(Z.project(np.array([4.0, 4.0])), point, atol=1e-4)
    assert np.allclose(Z.lmo(np.array([1.0, 1.0])), point, atol=1e-4)
    assert Z.contains(point) and not Z.contains(point + 1e-3)


def test_a_file_may_name_it() -> None:
    from tiebreak.files.catalogue import classes
    from tiebreak.sets import Domain

    assert classes(Domain)["Cone"] is tb.Cone


@pytest.mark.parametrize(
    ("A", "b", "cones", "words"),
    [
        ([[1.0]], [1.0], [("zero", 2)], "the cones have 2 rows, but A has 1"),
        ([[1.0]], [1.0], [("zeros", 1)], "cones\\[0\\] has the kind 'zeros'"),
        ([[1.0]], [1.0], [("nonnegative", 1.5)], "must be a count"),
        ([[1.0]] * 3, [1.0] * 3, [("power", 1.0)], "between 0 and 1"),
        ([[1.0]], [1.0, 2.0], [("zero", 1)], "b has length 2"),
        ([1.0], [1.0], [("zero", 1)], "A must be a 2-D array"),
        ([[np.inf]], [1.0], [("zero", 1)], "A holds NaN or infinite"),
        ([[1.0], [1.0]], [1.0, 2.0], [("zero", 2)], "the set is empty: its equalities"),
        ([[1.0], [-1.0]], [1.0, -2.0], [("nonnegative", 2)], "the set is empty"),
        ([[0.0], [1.0]], [1.0, 2.0], [("second-order", 2), ("zero", 0)], None),
        ([[0.0], [0.0]], [1.0, 2.0], [("second-order", 2)], "the set is empty"),
        ([[1.0]], [1.0], [], "cones is empty"),
    ],
)
def test_bad_input_ends_with_a_sentence(A, b, cones, words: str | None) -> None:
    if words is None:
        assert tb.Cone(A, b, cones).dim == 1
        return
    with pytest.raises((ValueError, TypeError), match=words):
        tb.Cone(A, b, cones)


@pytest.mark.parametrize("unit", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("column", [2.0**-20, 1.0, 2.0**20])
def test_a_far_point_in_other_units_is_found(unit: float, column: float) -> None:
    A = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]])
    b = np.array([8.0, -6.0, 2.0, -7.0, 40.0])  # 6 <= x <= 8 and |(x - 7, y + 40)| <= 2
    Z = tb.Cone(unit * A / [column, 1.0], unit * b, [("nonnegative", 2), ("second-order", 3)])
    x = Z.some_point() / [column, 1.0]
    assert 6 <= x[0] <= 8 and np.hypot(x[0] - 7, x[1] + 40) <= 2 and Z.bounded


def test_without_bounds_there_are_no_linear_minima() -> None:
    Z = SETS["without bounds"]
    assert not Z.bounded and "lmo" not in Z.oracles
    with pytest.raises(tb.MissingOracle, match="no bounds"):
        Z.lmo(np.ones(3))


@pytest.mark.parametrize("cone", [Nonnegative(4), SecondOrder(4), Semidefinite(3), Semidefinite(3, False)])
def test_jordan_products(cone) -> None:
    rng = np.random.default_rng(5)
    s, z = rng.standard_normal((2, cone.size))
    product = cone.circ(Exact.of(s), Exact.of(z)).double()
    assert np.allclose(cone.arrow(s) @ z, product) and np.allclose(cone.arrow_dual(z) @ s, product)
    assert np.linalg.norm(product) <= cone.bend * np.linalg.norm(s) * np.linalg.norm(z)
    if isinstance(cone, Semidefinite):
        S, Z = cone.matrix(ext(s)), cone.dual_matrix(ext(z))
        assert np.isclose(float(np.trace(S @ Z)), s @ z)
        assert np.allclose(cone.vector(double(S)), s) and np.allclose(cone.dual_vector(double(Z)), z)


@pytest.mark.parametrize(
    "cone", [Nonnegative(4), SecondOrder(4), Semidefinite(3), Semidefinite(3, False), Exponential(), Power(0.3)]
)
def test_margins_and_their_constants(cone) -> None:
    rng = np.random.default_rng(6)
    for _ in range(40):
        v = rng.standard_normal(cone.size)
        for margin in (cone.margin, cone.dual_margin):
            t = margin(ext(v))
            assert t >= -cone.thick * np.linalg.norm(v) * (1 + 1e-9)
            assert abs(margin(Exact.of(v)) - t) <= 1e-12 * (1 + abs(t))
            edge = v - t * cone.unit
            assert abs(margin(ext(edge))) <= 1e-12 * (1 + abs(t))
        s = v - cone.margin(ext(v)) * cone.unit
        z = v[::-1] - cone.dual_margin(ext(v[::-1])) * cone.unit
        assert s @ z >= -1e-12
        assert np.linalg.norm(s) <= cone.long * (cone.unit @ s) * (1 + 1e-9) + 1e-12


def test_exact_numbers_are_fractions() -> None:
    rng = np.random.default_rng(8)
    a = rng.standard_normal(6) * 10.0 ** rng.integers(-30, 30, 6)
    a[2] = 0.0
    long = np.longdouble(a) * (1 + np.longdouble(1e-19))
    M = rng.standard_normal((4, 6))

    def fractions(values: Exact) -> list[Fraction]:
        return [Fraction(int(one)) / Fraction(2) ** values.digits for one in values.whole.ravel()]

    exact = Exact.of(a)
    assert fractions(exact) == [Fraction(float(one)) for one in a]
    assert fractions(Exact.of(long)) == [Fraction(*one.as_integer_ratio()) for one in long]
    assert (exact.double() == a).all()
    rows = [sum(Fraction(float(m)) * Fraction(float(x)) for m, x in zip(row, a, strict=True)) for row in M]
    product = M @ exact
    assert fractions(product) == rows
    assert np.allclose(product.double(), [float(one) for one in rows], rtol=3e-16, atol=0)
    assert fractions(exact * 0.5 - 3.0) == [Fraction(float(one)) / 2 - 3 for one in a]
    one = product[1]
    assert Fraction(one.below()) < rows[1] < Fraction(one.above())
    assert root(24) == 5 and root(25) == 5 and root(10**40 + 1) == 10**20 + 1
    S = Exact.of(M[:, :2] @ M[:, :2].T + 1e-9 * np.eye(4))
    assert is_definite(S.whole) and not is_definite((S - 1e-8 * np.eye(4)).whole)


def test_least_eigenvalues_go_to_the_last_digits() -> None:
    rng = np.random.default_rng(7)
    factor = ext(rng.standard_normal((5, 2)))
    S = factor @ factor.T
    low = least_eigenvalue(S)
    assert -1e-16 * float(np.trace(S)) < low <= 0
    for size in (0.0, 1e-310, 1e-260, 1e200, 1e300):  # sums of squares of which leave the doubles
        assert least_eigenvalue(Exact.of(size * np.ones((2, 2)))) <= 0
    barely = Exact.of(np.diag([1.0, 2e-15]))  # definite, by what double precision can just not tell
    assert -1e-50 < least_eigenvalue(barely) <= 2e-15
    whole = Exact.of(rng.integers(-3, 4, (5, 2)).astype(float))
    assert -1e-50 < least_eigenvalue(whole @ whole.T) < 0
    assert least_eigenvalue(whole @ whole.T - 1e-40 * np.eye(5)) <= -1e-40
    assert least_eigenvalue(S - ext(1e-15) * np.eye(5)) <= -1e-15
    assert least_eigenvalue(S - ext(1e-3) * np.eye(5)) <= -1e-3
    assert 0.9e-3 < least_eigenvalue(S + ext(1e-3) * np.eye(5)) <= 1e-3 * (1 + 1e-9)
