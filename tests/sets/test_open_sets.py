"""Unbounded sets: what they say of themselves, and the oracles they have."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.fingerprint import fingerprint
from tiebreak.numerics.failures import NoBox
from tiebreak.numerics.outer_box import outer_box
from tiebreak.sets.base import WITHOUT_LMO, Domain

INF = np.inf
RAYS = {
    "one row": ({"A_ub": [[1.0, 1.0]], "b_ub": [1.0]}, "unbounded"),
    "one side": (
        {"A_ub": [[1.0, 1.0]], "b_ub": [1.0], "bounds": [(0, 1), (None, 1)]},
        r"x\[1\] has no bound below",
    ),
    "a cone": ({"A_ub": [[1.0, -1.0]], "b_ub": [1.0], "bounds": (0, None)}, "unbounded"),
    "a line": ({"A_eq": [[1.0, -1.0]], "b_eq": [0.0]}, "x.0. by 1, x.1. by 1|x.0. by -1, x.1. by -1"),
}
OPEN = {
    "space": lambda: tb.Space(3),
    "orthant": lambda: tb.Box(0.0, INF, dim=3),
    "half-bounded": lambda: tb.Box([0.0, -INF, -1.0], [INF, 2.0, 1.0]),
    "polyhedron": lambda: tb.Polyhedron(A_ub=[[-1.0, -2.0, 1.0]], b_ub=[-1.0], bounds=(0, None)),
    "line": lambda: tb.Polyhedron(A_eq=[[1.0, -1.0, 0.0], [0.0, 1.0, -2.0]], b_eq=[1.0, 2.0]),
    "intercept": lambda: tb.Product({"w": (tb.Simplex(), 2), "b": (tb.Space(), 1)}),
    "ball and intercept": lambda: tb.Product({"w": (tb.L1Ball(1.0), 2), "b": (tb.Space(), 1)}),
    "columns": lambda: tb.Columns(tb.Box(0.0, INF), (1, 3)),
}


@pytest.mark.parametrize("name", OPEN)
def test_oracles_and_descriptions_agree(name: str) -> None:
    domain = OPEN[name]()
    assert not domain.bounded and domain.diameter == INF
    assert domain.oracles == WITHOUT_LMO
    assert tb.testing.check_set(domain) > 50


@pytest.mark.parametrize("name", OPEN)
def test_oracles_that_are_missing_say_so(name: str) -> None:
    domain = OPEN[name]()
    for call in (lambda: domain.lmo(np.ones(3)), lambda: domain.lmo_cut(np.ones(3), np.ones(3), 1.0)):
        with pytest.raises(tb.MissingOracle, match=r"no lmo|infinite ends"):
            call()


@pytest.mark.parametrize("name", OPEN)
def test_copies_and_fingerprints(name: str) -> None:
    domain = OPEN[name]()
    again = pickle.loads(pickle.dumps(domain))
    assert again.oracles == domain.oracles and repr(again) == repr(domain)
    np.testing.assert_array_equal(again.project(np.arange(3.0)), copy.copy(domain).project(np.arange(3.0)))
    problems = [tb.Problem(tb.SquaredNorm(dim=3), tb.Linear(np.ones(3)), one) for one in (domain, again, tb.Space())]
    same, other = (fingerprint(problems[0]).difference(fingerprint(one)) for one in problems[1:])
    assert not same and (bool(other) or name == "space")


def test_bounded_sets_keep_their_oracles() -> None:
    for domain in (tb.Box(0.0, 1.0), tb.Polyhedron(A_ub=[[1.0, 2.0]], b_ub=[2.0], bounds=(0, None)), tb.Simplex()):
        assert domain.bounded and domain.oracles == Domain.oracles


@pytest.mark.parametrize("name", RAYS)
def test_the_reason_names_a_ray(name: str) -> None:
    kinds, message = RAYS[name]
    domain = tb.Polyhedron(**kinds)
    assert not domain.bounded
    with pytest.raises(tb.MissingOracle, match=message):
        domain.lmo(np.ones(2))
    with pytest.raises(NoBox) as error:
        outer_box(domain.rows.plain, domain.some_point())
    ray, rows = error.value.ray, domain.rows.plain
    far = domain.some_point() + 1e6 * ray
    assert rows.missed_by(far) < 1e-9 and (far >= rows.lower - 1e-6).all() and (far <= rows.upper + 1e-6).all()


def test_projections_onto_the_intersection_with_a_half_space() -> None:
    orthant = tb.Box(0.0, INF, dim=2)
    np.testing.assert_allclose(orthant.project_cut(np.array([2.0, 2.0]), np.ones(2), 2.0), [1.0, 1.0])
    with pytest.raises(ValueError, match="does not meet"):
        orthant.project_cut(np.array([2.0, 2.0]), np.ones(2), -1.0)


def test_the_whole_space_is_the_default() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]))
    assert repr(problem.domain) == "Space(2)" and "over Space(2)" in repr(problem)
    with pytest.raises(TypeError, match="None for the whole space"):
        tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), "everywhere")
    with pytest.raises(ValueError, match="number of variables is unknown"):
        tb.Problem(tb.SquaredNorm(), [])


def test_methods_without_their_oracle_are_refused_in_a_sentence() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(0.0, INF))
    with pytest.raises(ValueError, match=r"'cg-bio' needs domain\.lmo, domain\.lmo_cut, which the problem lacks"):
        tb.solve(problem, "cg-bio")


@pytest.mark.parametrize("method", ["big-sam", "bi-sg", "pb-apg", "apb-apg", "adabim", "agm-bio", "r-apm", "cabot"])
@pytest.mark.parametrize("name", ["space", "orthant", "polyhedron", "intercept"])
def test_methods_that_project_run(method: str, name: str) -> None:
    """They go down; below, there is no bound but that squares are not negative."""
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0, 2.0]], [3.0]), OPEN[name]())
    exact = tb.solve(problem)
    result = tb.solve(problem, method, max_iter=60, max_time=20)
    assert exact.success
    assert problem.domain.contains(result.x, 1e-7)
    assert result.g < problem.lower.value(problem.domain.some_point()) or result.g < 1e-2
    c = result.certificate
    assert 0 <= c.g_lower <= exact.certificate.g_upper and 0 <= c.f_lower <= exact.certificate.f_upper
    assert result.verify(problem).ok
