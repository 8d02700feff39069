"""Bounds that do not bind cost nothing, from 1 to 2^40: rows hold, brackets hold the truth of rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from rational_references import dot, fractions, independent, solved

import tiebreak as tb
from tiebreak.engines.answer import Answer
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.extended import WIDE

Point = list[Fraction]
SIZES = [2.0**2, 1e6, 1e9, 1e12, 2.0**40]
needs_digits = pytest.mark.skipif(not WIDE, reason="widths are those of 64-bit mantissas")


class Exact(NamedTuple):
    """{x : a x <= b for the first, a x = b for the others} by enumeration."""

    inequalities: list[tuple[Point, Fraction]]
    equalities: list[tuple[Point, Fraction]]

    def holds(self, x: Point) -> bool:
        return all(dot(a, x) <= b for a, b in self.inequalities) and all(dot(a, x) == b for a, b in self.equalities)

    def tight_sets(self, most: int):
        kept = [self.equalities[k] for k in independent([a for a, _ in self.equalities])]
        for size in range(most - len(kept) + 1):
            for chosen in combinations(self.inequalities, size):
                yield kept + list(chosen)

    def vertices(self, n: int) -> list[Point]:
        found = []
        for rows in self.tight_sets(n):
            x = solved([a for a, _ in rows], [b for _, b in rows]) if len(rows) == n else None
            if x is not None and x not in found and self.holds(x):
                found.append(x)
        return found

    def also(self, a: Point, b: Fraction) -> Exact:
        return Exact(self.inequalities, [*self.equalities, (a, b)])

    def nearest(self, center: Point) -> Point:
        best: Point | None = None
        for rows in self.tight_sets(len(center)):
            gram = [[dot(a, c) for c, _ in rows] for a, _ in rows]
            y = solved(gram, [dot(a, center) - b for a, b in rows]) if rows else []
            if y is None:
                continue
            x = [
                c - sum((s * a[j] for s, (a, _) in zip(y, rows, strict=True)), Fraction(0))
                for j, c in enumerate(center)
            ]
            if self.holds(x) and (best is None or half_square(x, center) < half_square(best, center)):
                best = x
        assert best is not None
        return best


def half_square(x: Point, center: Point) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, center, strict=True)), Fraction(0)) / 2


class Case(NamedTuple):
    """A polyhedron with generous bounds, levels, their values, and whether those before a level leave one point."""

    domain: tb.Polyhedron
    levels: list[tb.Objective]
    values: list[Fraction]
    unique: list[bool]
    exact: Exact


def drawn(seed: int, size: float, kinds: str) -> Case:
    """Small integers around a point p >= 0; costs are mixes of the rows, so that optima are of the size of p."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    p, A = rng.integers(0, 4, n), rng.integers(-3, 4, (m, n))
    equal = int(rng.integers(0, min(m, n - 1) + 1))
    b = A @ p + np.where(np.arange(m) < equal, 0, rng.choice([0, 1, 5], m))
    low, high = np.where(rng.random(n) < 0.6, 0.0, -size), np.full(n, size)
    sides = [(sign * e, Fraction(float(sign * end))) for ends, sign in ((high, 1), (low, -1)) for e, end in _axes(ends)]
    rows = [(fractions(row), Fraction(int(end))) for row, end in zip(A, b, strict=True)]
    exact = Exact([*rows[equal:], *((fractions(a), end) for a, end in sides)], rows[:equal])
    domain = tb.Polyhedron(A[equal:], b[equal:], A[:equal], b[:equal], list(zip(low, high, strict=True)))
    levels, values, unique, face = [], [], [], exact
    for kind in kinds:
        points = face.vertices(n)
        unique.append(len(points) == 1)
        if kind == "c":
            c = (rng.integers(-2, 1, m) * np.where(np.arange(m) < equal, rng.choice([-1, 1], m), 1)) @ A
            c = c + np.where(low == 0, rng.integers(0, 3, n), 0)
            levels.append(tb.Linear(c.astype(float)))
            values.append(min(dot(fractions(c), x) for x in points))
            face = face.also(fractions(c), values[-1])
        elif kind == "s":  # fits p, which is in the face only as a first level
            F = rng.integers(-3, 4, (int(rng.integers(1, n + 1)), n))
            levels.append(tb.LeastSquares(F.astype(float), (F @ p).astype(float)))
            values.append(Fraction(0))
            for row in F:
                face = face.also(fractions(row), Fraction(int(row @ p)))
        else:
            center = rng.integers(-2, 5, n)
            x = face.nearest(fractions(center))
            levels.append(tb.SquaredNorm(center.astype(float)))
            values.append(half_square(x, fractions(center)))
    return Case(domain, levels, values, unique, exact)


def _axes(ends: np.ndarray):
    return [(np.eye(ends.size)[j], ends[j]) for j in range(ends.size)]


def missed(exact: Exact, x: np.ndarray) -> float:
    """The worst violation of a row or bound, relative to its terms."""
    point = fractions(x)
    worst = Fraction(0)
    for rows, two_sided in ((exact.inequalities, False), (exact.equalities, True)):
        for a, b in rows:
            off = dot(a, point) - b
            terms = sum((abs(s * t) for s, t in zip(a, point, strict=True)), abs(b)) + Fraction(1, 2**20)
            worst = max(worst, (abs(off) if two_sided else off) / terms)
    return float(worst)


def check(case: Case, answers: list[Answer]) -> None:
    for k, (answer, value) in enumerate(zip(answers, case.values, strict=True)):
        assert answer.f_lower <= value <= answer.f_upper, k
        assert k == 0 or answer.lower_unique in (None, case.unique[k]), k
    assert missed(case.exact, answers[-1].x) <= 1e-14


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kinds", ["cc", "cn", "sc", "sn", "ccn", "scn", "ccc"])
def test_small_chains_against_rational_arithmetic(kinds, size):
    proved = 0
    for seed in range(3):
        case = drawn(100 * len(kinds) + seed, size, kinds)
        answers = solve_rows(case.levels, case.domain)
        check(case, answers)
        proved += max(answer.width for answer in answers) < 1e-9
    assert proved >= 2 or not WIDE


@needs_digits
@pytest.mark.parametrize("size", SIZES)
def test_a_box_and_a_polyhedron_alike(size):
    """The nearest of all least-squares solutions; in a box that binds nowhere it is A^+ b."""
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(3, 6)), rng.normal(size=3)
    x = np.linalg.pinv(A) @ b
    levels = [tb.LeastSquares(A, b), tb.SquaredNorm()]
    for domain in (tb.Box(-size, size, 6), tb.Polyhedron(bounds=[(-size, size)] * 6)):
        answer = solve_rows(levels, domain)[-1]
        assert answer.width < 1e-13
        assert answer.lower_unique is False
        np.testing.assert_allclose(answer.x, x, atol=1e-13)
        result = tb.solve(tb.Problem(levels[1], levels[0], domain), "exact", tol_upper=1e-9, tol_lower=1e-9)
        assert result.success


@needs_digits
@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("kind", ["transport", "blending", "flow"])
def test_programmes_people_have(kind, size):
    """The same answers as with bounds that just do not bind."""
    rng = np.random.default_rng(7)
    if kind == "transport":
        rows = np.vstack([np.kron(np.eye(4), np.ones((1, 6))), np.kron(np.ones((1, 4)), np.eye(6))])
        flow = rng.integers(0, 5, 24)
        kinds, least, most = {"A_eq": rows, "b_eq": rows @ flow}, 0, 40
        c = rng.integers(1, 4, 24)
    elif kind == "blending":
        quality = rng.integers(1, 9, (3, 8))
        kinds = {"A_eq": np.ones((1, 8)), "b_eq": [10.0], "A_ub": -quality, "b_ub": -quality @ np.full(8, 1.25)}
        c, least, most = rng.integers(1, 5, 8), 0, 11
    else:  # a grid of pipes, each in both directions
        nodes = [(i, j) for i in range(3) for j in range(4)]
        arcs = [(s, t) for s in nodes for t in nodes if abs(s[0] - t[0]) + abs(s[1] - t[1]) == 1 and s < t]
        rows = np.array([[(s == v) * 1.0 - (t == v) for s, t in arcs] for v in nodes])
        b = np.zeros(12)
        b[0], b[-1] = 5.0, -5.0
        kinds, least, most = {"A_eq": rows, "b_eq": b}, -20, 20
        c = rng.integers(-1, 2, rows.shape[0]) @ rows
    levels = [tb.Linear(np.asarray(c, dtype=float)), tb.SquaredNorm()]
    tight = solve_rows(levels, tb.Polyhedron(**kinds, bounds=(least, most)))
    loose = solve_rows(levels, tb.Polyhedron(**kinds, bounds=(-size if least < 0 else 0, size)))
    for one, other in zip(tight, loose, strict=True):
        assert one.width < 1e-11 and other.width < 1e-11
        assert max(one.f_lower, other.f_lower) <= min(one.f_upper, other.f_upper)
    np.testing.assert_allclose(loose[-1].x, tight[-1].x, atol=1e-12)
    assert tight[-1].lower_unique == loose[-1].lower_unique


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_oracles_of_the_set(seed, size):
    case = drawn(seed, size, "c")
    rng = np.random.default_rng(seed)
    for c in (case.levels[0].c, rng.integers(-3, 4, case.domain.dim).astype(float)):
        s = case.domain.lmo(c)
        least = min(dot(fractions(c), x) for x in case.exact.vertices(case.domain.dim))
        assert missed(case.exact, s) <= 1e-14
        assert case.domain.contains(s)
        bound = case.domain.lmo_bound(c, s)
        assert bound <= least
        assert least - Fraction(bound) <= 1e-5 * max(1.0, float(abs(least)))


@pytest.mark.parametrize("size", SIZES)
def test_a_point_that_misses_a_row_is_not_in_the_set(size):
    domain = tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[1.0], bounds=(0, size))
    assert domain.contains(np.array([0.5, 0.5 + 1e-10]))
    assert not domain.contains(np.array([0.5, 0.5 + 1e-8]))
    assert not domain.contains(np.array([-1e-8, 0.5]))
    box = tb.Box(np.zeros(2), np.full(2, size))
    assert box.contains(np.array([0.0, 0.5])) and not box.contains(np.array([-1e-8, 0.5]))


@pytest.mark.parametrize(
    ("length", "bounds"),
    [(1.4, (0, 1e9)), (1e-3, (0, 1e6)), (1e-10, (0, 4)), (1e-6, (0, 2.0**40)), (1.0, (-1e12, 1e12))],
)
def test_short_edges_are_edges(length, bounds):
    """x0 + x1 = 2 with |x0 - x1| <= length: all of it minimises x0 + x1."""
    rows = [[1.0, -1.0], [-1.0, 1.0]]
    domain = tb.Polyhedron(A_ub=rows, b_ub=[length, length], A_eq=[[1.0, 1.0]], b_eq=[2.0], bounds=bounds)
    edge = solve_rows([tb.Linear([1.0, 1.0]), tb.Linear([1.0, 0.0])], domain)[-1]
    assert edge.lower_unique is False
    assert edge.f_lower <= 1 - length / 2 <= edge.f_upper + 1e-16
    point = solve_rows([tb.Linear([1.0, 2.0]), tb.SquaredNorm()], domain)[-1]
    assert point.lower_unique is True
    far = tb.Box([1.0, 0.0], [1.0 + length, 1e9])
    assert solve_rows([tb.Linear([0.0, 1.0]), tb.Linear([1.0, 0.0])], far)[-1].lower_unique is False


@pytest.mark.parametrize("apart", [1e-3, 1e-9, 1e-12, 1e-13, 2.0**-47, 2.0**-50, 2.0**-52])
def test_costs_that_differ_by_little_leave_one_vertex(apart):
    domain = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1e9))
    answer = solve_rows([tb.Linear([1.0, 1.0 + apart]), tb.SquaredNorm()], domain)[-1]
    assert answer.lower_unique is (True if apart > 1e-12 else answer.lower_unique)
    assert answer.lower_unique is not False
    assert answer.upper_constant is not True or answer.lower_unique is True
    assert answer.f_lower <= 0.5 <= answer.f_upper


@pytest.mark.parametrize("apart", [1e-9, 1e-12, 1e-14, 2.0**-52])
def test_constancy_is_not_claimed_where_it_is_off_by_little(apart):
    """All of the edge minimises g; f = x0 + (1 + apart) x1 differs between its ends."""
    domain = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1e6))
    answer = solve_rows([tb.Linear([1.0, 1.0]), tb.Linear([1.0, 1.0 + apart])], domain)[-1]
    assert answer.lower_unique is False
    assert answer.upper_constant is None
    same = solve_rows([tb.Linear([1.0, 1.0]), tb.Linear([3.0, 3.0])], domain)[-1]
    assert same.upper_constant is True


def test_a_set_is_called_empty_only_with_a_proof():
    for size in (1.0, 1e6, 1e12):
        with pytest.raises(ValueError, match="empty"):
            tb.Polyhedron(A_ub=[[1.0, 1.0], [-1.0, -1.0]], b_ub=[1.0, -1.0 - 1e-6], bounds=(-size, size))
        thin = tb.Polyhedron(A_ub=[[1.0, 1.0], [-1.0, -1.0]], b_ub=[1.0, -1.0 + 1e-12], bounds=(-size, size))
        assert thin.contains(thin.lmo(np.array([1.0, 0.0])))


@pytest.mark.parametrize("digits", range(6, 15))
@pytest.mark.parametrize("start", [(1.0, -0.5, -2.0), (3.0, 2.5, -1.0), (1e6, 1e6 - 1.5, -3.0)])
def test_columns_with_hardly_any_room(start, digits):
    """The lower solutions are a segment as short as the box is narrow: no word on it, or the right one."""
    lower = np.array(start)
    upper = np.nextafter(lower, np.inf) + 10.0**-digits
    row = np.array([[2.0, -2.0, 2.0]])
    domain = tb.Polyhedron(row, [float((row @ lower)[0])], bounds=list(zip(lower, upper, strict=True)))
    for c in (np.array([1.0, -1.0, 1.0]), np.array([0.0, 4.0, -4.0])):
        assert domain.contains(domain.lmo(c), 1e-9)
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([0.0, 4.0, -4.0]), domain)
    c = tb.solve(problem, "exact").certificate
    least = Fraction(4) * (Fraction(lower[1]) - Fraction(lower[2]))  # where the row is tight, x1 at its lower bound
    assert c.lower_unique is not True and c.upper_constant is not True
    assert Fraction(c.g_lower) <= least and (np.isinf(c.g_upper) or least <= Fraction(c.g_upper))


def test_points_that_miss_rows_by_rounding_give_away_what_that_may_cost():
    """Degenerate corners where no true point can be shown nearby; f* is 5/8 and 1/50."""
    corner = tb.Polyhedron(
        [[-2.0, 3.0, -3.0], [3.0, -3.0, 3.0]], [-4.0, 7.5], [[1.0, 1.0, 2.0]], [4.5], bounds=(-512.0, 516.0)
    )
    fit = tb.LeastSquares([[1.0, 0.0, 1.0], [-2.0, -1.0, -1.0], [2.0, -1.0, 0.0]], [3.0, -5.5, 3.5])
    answer = solve_rows([fit, tb.SquaredNorm(center=[2.0, 0.0, 0.0])], corner)[-1]
    assert Fraction(answer.f_lower) <= Fraction(5, 8) <= Fraction(answer.f_upper)
    u = 2.0**-10
    A = u * np.array([[0.0, 3.0, 2.0, 1.0], [-3.0, 1.0, 0.0, 2.0], [3.0, 0.0, -2.0, 3.0]])
    bounds = [(2048.0, 6144.0), (1024.0, 4096.0), (-2048.0, 1024.0), (-4096.0, 0.0)]
    domain = tb.Polyhedron(A, [4.5, -7.5, 0.0], u * np.array([[-2.0, 1.0, -1.0, 2.0]]), [-6.0], bounds=bounds)
    levels = [tb.LeastSquares(u * np.array([a]), [b]) for a, b in (([-1.0, 0, 1, 2], 3.0), ([0.0, -1, -1, 2], -6.0))]
    answer = solve_rows(levels, domain)[-1]
    assert Fraction(answer.f_lower) <= Fraction(1, 50) <= Fraction(answer.f_upper)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12, 2.0**40 + 4])
def test_one_variable_at_a_far_bound_and_one_at_a_row(far):
    domain = tb.Polyhedron([[3.0, -1.0], [-2.0, 0.0]], [0.0, 2.5], bounds=(-4.0, far))
    for c, least in (((0.0, -1.0), -far), ((1.0, -1.0), -1.25 - far), ((-1.0, 0.0), -far / 3)):
        s = domain.lmo(np.array(c))
        assert domain.contains(s, 1e-12) and np.dot(c, s) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("bounds", [(-2.0, 2.0), (-1e12, 1e12), (None, None)])
def test_variables_that_rows_fix_at_zero_have_no_size_of_their_own(bounds):
    domain = tb.Polyhedron(A_eq=[[1.0]], b_eq=[0.0], bounds=bounds)
    answer = solve_rows([tb.Linear([2.0]), tb.Quadratic([[4.0]], [0.0])], domain)[-1]
    assert answer.f_lower <= 0 <= answer.f_upper and answer.x == 0


def test_a_point_outside_is_no_success_and_no_contradiction():
    """A level that is all but linear: whatever becomes of it, there is an answer."""
    domain = tb.Polyhedron([[-2.0, 3.0]], [-4.0], [[1.0, -1.0]], [1.5], bounds=[(-0.5, 1.5), (-1.0, 3.0)])
    lower = tb.Quadratic(2.0**-35 * np.ones((2, 2)), [-1.0, 0.0])
    result = tb.solve(tb.Problem(tb.Linear([0.0, -1.0]), lower, domain))
    c = result.certificate
    assert c.f_lower <= 1 <= c.f_upper and c.g_lower <= -0.5 + 2.0**-38 and c.g_upper >= -0.5
    assert not result.success or domain.contains(result.x)


def test_columns_without_curvature_have_no_part_in_the_range_of_a_form():
    """The first level has a cost on x1 and no curvature there, and bounds far away: f* is 4.5499, not 1.2962."""
    Q = np.zeros((5, 5))
    Q[np.ix_([0, 2, 3, 4], [0, 2, 3, 4])] = [[13, -5, -4, -2], [-5, 5, 4, 4], [-4, 4, 5, 5], [-2, 4, 5, 6]]
    A = [[3, 0, -1, -3, -1], [-2, 0, 3, -3, 3], [3, -3, 2, -2, -3], [-3, -1, 1, -3, 0], [3, 0, 0, -3, 0]]
    far = (-4.0, 268435460.0)
    domain = tb.Polyhedron(np.array(A, float), [16.5, -8.5, 14.0, -1.5, 12.5], bounds=[far, far, (-3.0, 1.0), far, far])
    levels = [tb.Quadratic(Q, [-47.0, 1, 36, 36, 33], 2.0), tb.SquaredNorm(center=[1.5, 0.25, -1.5, -1.75, -1.25])]
    answers = solve_rows(levels, domain)
    assert answers[-1].f_lower <= 4.549945213692811 <= answers[-1].f_upper
    assert answers[0].f_lower <= -150.10098263922754 <= answers[0].f_upper


@pytest.mark.parametrize(
    ("c", "center", "A", "b", "bounds", "f_star"),
    [
        (
            [-7.0, 3.0, 2.0, -5.0],
            [0.5, 2.25, 0.25, -2.0],
            [[1, -3, 0, -1], [1, 2, -2, 2], [3, -3, 0, 3], [2, 0, -1, 1], [2, 0, -3, 0]],
            [-5.0, 1.0, -12.0, -2.5, 0.5],
            [(-0.5, -0.5 + 2.0**-22), (2.0, 6.0), (0.0, 3.0), (-3.5, -1.5)],
            0.6874995827675932,
        ),
    ],
)
def test_a_quadratic_level_on_a_face_smaller_than_solvers_see(c, center, A, b, bounds, f_star):
    """All sides are suggested at once, and the rows cannot be met there: downhill from the point of the face."""
    domain = tb.Polyhedron(np.array(A, float), b, bounds=bounds)
    answer = solve_rows([tb.Linear(c), tb.SquaredNorm(center=center)], domain)[-1]
    assert answer.f_lower <= f_star <= answer.f_upper <= answer.f_lower + 1e-14


@pytest.mark.parametrize("bound", [4.0, 1e3, 2.0**27])
def test_a_degenerate_vertex_is_not_several_solutions(bound: float) -> None:
    """Only (0, 0) has x = 2y here, and three rows are tight there: a step that keeps x = 2y leaves the set."""
    rows = [[-3.0, -2.0], [2.0, 1.0], [-3.0, 1.0], [-2.0, 3.0]]
    domain = tb.Polyhedron(A_ub=rows, b_ub=[1.0, 0.0, 0.0, 0.0], bounds=[(-4.0, bound)] * 2)
    upper = tb.Quadratic([[4.0, -4.0], [-4.0, 4.0]], [-1.0, 1.0], -2.0)
    result = tb.solve(tb.Problem(upper, tb.LeastSquares([[-1.0, 2.0]], [0.0]), domain))
    assert result.success and result.certificate.lower_unique is not False


def test_a_set_that_is_a_point_is_built_and_solved() -> None:
    """x1 = 0 is implied by the rows alone: a column without a size of its own, that no solver can be scaled by."""
    domain = tb.Polyhedron(
        A_ub=[[-2.0, -3.0, 3.0]],
        b_ub=[0.0],
        A_eq=[[-1.0, -1.0, 1.0]],
        b_eq=[0.0],
        bounds=[(None, None), (None, 1.0), (1.0, None)],
    )
    result = tb.lexicographic([tb.Linear([2.0, 3.0, -2.0]), tb.Linear([4.0, 6.0, -6.0])], domain)
    assert np.allclose(result.x, [0.0, 1.0, 1.0], atol=1e-9)
    assert [level.lower <= value <= level.upper for level, value in zip(result.levels, (1.0, 0.0), strict=True)] == [
        True
    ] * 2
