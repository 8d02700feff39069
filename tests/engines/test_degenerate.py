"""What is tight at a point, for certain or to rounding, and how far true solutions are then: against fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from rational_references import solved
from scipy.sparse import csr_array

import tiebreak as tb
from tiebreak.engines.rows.degenerate import beside_all, tight_for_certain
from tiebreak.engines.rows.face import Face
from tiebreak.numerics.extended import ext


def at(domain: tb.Polyhedron, x: list[float]) -> tuple[Face, float]:
    face, unit = Face.of(domain)
    face.x = ext(np.array(x)) / unit
    return face, unit


def test_independent_rows_are_tight_together() -> None:
    face, _ = at(tb.Polyhedron(A_ub=[[1.1, 0.3], [0.7, 2.3]], b_ub=[1.4, 3.0], bounds=(-9, 9)), [1.0, 1.0])
    assert tight_for_certain(face, face.x)


@pytest.mark.parametrize(("third", "certain"), [([2.0, 1.0, 3.0], True), ([1.8, 2.6, 4.4], False)])
def test_dependent_rows_are_if_their_equations_have_a_solution(third: list[float], certain: bool) -> None:
    """(1, 1) on three rows: whole numbers meet there; 1.1 + 0.3 is not 1.4 as decimals are stored."""
    first = [[1.0, 0.0], [0.0, 1.0]] if certain else [[1.1, 0.3], [0.7, 2.3]]
    ends = [1.0, 1.0] if certain else [1.4, 3.0]
    rows = [*first, third[:2]]
    exactly = [sum(map(Fraction, row)) == Fraction(end) for row, end in zip(rows, [*ends, third[2]], strict=True)]
    assert all(exactly) == certain
    face, _ = at(tb.Polyhedron(A_ub=rows, b_ub=[*ends, third[2]], bounds=(-9, 9)), [1.0, 1.0])
    assert tight_for_certain(face, face.x) == certain


def test_whole_numbers_that_miss_by_a_unit_in_the_last_place_do_not_meet() -> None:
    ends = [1.0, 1.0, float(np.nextafter(3.0, 4.0))]
    face, _ = at(tb.Polyhedron(A_ub=[[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], b_ub=ends, bounds=(-9, 9)), [1.0, 1.0])
    assert not tight_for_certain(face, face.x)


def test_the_same_row_twice_is_one() -> None:
    face, _ = at(tb.Polyhedron(A_ub=[[1.1, 0.3], [1.1, 0.3], [0.7, 2.3]], b_ub=[1.4, 1.4, 3.0], bounds=(-9, 9)), [1, 1])
    assert tight_for_certain(face, face.x)


@pytest.mark.parametrize("seed", range(20))
def test_all_exact_vertices_nearby_are_within_reach(seed: int) -> None:
    """Rows through a point but for rounding: every vertex of theirs, in fractions, is as near as is said."""
    rng = np.random.default_rng(seed)
    A = np.round(rng.normal(size=(5, 3)), 2)
    x = np.round(rng.uniform(0.5, 1.5, 3), 1)
    face, unit = at(tb.Polyhedron(A_ub=A, b_ub=A @ x, bounds=(-9, 9)), list(x))
    if tight_for_certain(face, face.x):
        return
    moves = beside_all(face, face.x)
    assert moves is not None and (moves * unit <= 1e-9).all()
    for rows in combinations(range(5), 3):
        if abs(np.linalg.det(A[list(rows)])) < 1e-9:
            continue
        vertex = solved([[Fraction(v) for v in A[i]] for i in rows], [Fraction(v) for v in (A @ x)[list(rows)]])
        assert vertex is not None
        apart = [abs(v - Fraction(w)) for v, w in zip(vertex, x, strict=True)]
        assert all(gap <= Fraction(move * unit) for gap, move in zip(apart, moves, strict=True)), (rows, apart)


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_without_entries_hold_nothing(sparse: bool) -> None:
    """1.1 x1 + 0.3 x2 + 0.3 x3 = 0.3 beside 0 = 0 and 0 <= 0: the least x1, then the nearest to the origin."""
    A, b = np.array([[1.1, 0.3, 0.3], [0.0, 0.0, 0.0]]), np.array([0.3, 0.0])
    rows = csr_array(A) if sparse else A
    domain = tb.Polyhedron(A_ub=rows[1:], b_ub=b[1:], A_eq=rows, b_eq=b, bounds=(0, 1))
    face, _ = at(domain, [0.0, 0.5, 0.5 + 2.0**-53])
    assert tight_for_certain(face, face.x)
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([1.0, 0.0, 0.0]), domain))
    assert result.success and result.certificate.f_lower <= 0.25 <= result.certificate.f_upper
    np.testing.assert_allclose(result.x, [0.0, 0.5, 0.5], atol=1e-14)
