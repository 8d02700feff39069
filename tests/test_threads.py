"""Sets and objectives shared by threads, copied and pickled: the answers of one thread."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tiebreak as tb

RNG = np.random.default_rng(5)
THREADS = 8
PIECES = {
    "rows": tb.Polyhedron(A_ub=RNG.uniform(0, 1, (12, 20)), b_ub=np.full(12, 3.0), bounds=(0, 1)),
    "free": tb.Polyhedron(A_ub=np.vstack([np.eye(20), -np.eye(20)]), b_ub=np.ones(40)),
    "box": tb.Box(-np.ones(20), np.ones(20)),
    "ball": tb.L1Ball(1.0),
}
LOWER = tb.LeastSquares(RNG.standard_normal((6, 20)), RNG.standard_normal(6))
UPPER = tb.LeastSquares(RNG.standard_normal((30, 20)), RNG.standard_normal(30))


def in_threads(work, count=THREADS):
    with ThreadPoolExecutor(count) as pool:
        return [future.result(timeout=60) for future in [pool.submit(work) for _ in range(count)]]


@pytest.mark.parametrize("name", list(PIECES))
@pytest.mark.parametrize("method", ["exact", "cg-bio-anytime"])
def test_threads_share_a_problem(name, method):
    problem = tb.Problem(UPPER, LOWER, PIECES[name])

    def work():
        return tb.solve(problem, method, max_iter=30, tol_upper=1e-6, tol_lower=1e-6)

    alone = work()
    for result in in_threads(work):
        assert result.status is alone.status
        ours, theirs = result.certificate, alone.certificate
        assert max(ours.g_lower, theirs.g_lower) <= min(ours.g_upper, theirs.g_upper) + 1e-12
        assert max(ours.f_lower, theirs.f_lower) <= min(ours.f_upper, theirs.f_upper) + 1e-12
        assert result.f == pytest.approx(alone.f, rel=1e-6)


def test_threads_share_the_oracles_of_a_polyhedron():
    """Each question has one answer, and no thread gets that to another's."""
    Z = tb.Polyhedron(A_eq=np.ones((1, 30)), b_eq=[1.0], bounds=(0, 1))
    costs = np.random.default_rng(0).permuted(np.tile(np.arange(30.0), (THREADS, 40, 1)), axis=2)

    def ask(mine):
        for c in mine:
            s = Z.lmo(c)
            assert c[np.argmax(s)] == 0.0 and s.max() == 1.0
            assert -1e-12 <= Z.lmo_bound(c, s) <= 0.0
            cut = Z.lmo_cut(c, -c, -0.5)
            assert float(c @ cut.point) == pytest.approx(0.5, abs=1e-9)

    with ThreadPoolExecutor(THREADS) as pool:
        for future in [pool.submit(ask, mine) for mine in costs]:
            future.result(timeout=60)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("name", list(PIECES))
def test_used_sets_can_be_copied(name, copied):
    Z = PIECES[name]
    c = np.linspace(-1, 1, 20)
    before = Z.lmo(c)
    other = copied(Z)
    np.testing.assert_allclose(other.lmo(c), before, atol=1e-9)
    problem = copied(tb.Problem(UPPER, LOWER, Z))
    assert tb.solve(problem, "exact").f == pytest.approx(tb.solve(tb.Problem(UPPER, LOWER, Z), "exact").f, rel=1e-9)


@pytest.mark.parametrize("rows", [np.zeros((2, 3)), np.zeros((0, 3)), np.full((2, 3), 1e-14)])
def test_rows_without_a_nonzero(rows):
    """HiGHS has no factors of such a basis, and breaks down when asked for it."""
    Z = tb.Polyhedron(A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1))
    assert list(Z.lmo(np.array([1.0, -1.0, 1.0]))) == [0, 1, 0]
    chain = tb.lexicographic([tb.Linear([1.0, 0.0, -1.0]), tb.Linear([0.0, 1.0, 0.0])], Z)
    assert chain.success and list(chain.x) == [0, 0, 1]
    constant = tb.LeastSquares(np.zeros((2, 3)), np.ones(2))
    for domain in (Z, tb.Box(np.zeros(3), np.ones(3))):
        result = tb.solve(tb.Problem(tb.Linear([1.0, -1.0, 2.0]), constant, domain), "exact")
        assert result.success and list(result.x) == [0, 1, 0] and result.g == 1.0
        result = tb.solve(tb.Problem(tb.SquaredNorm([2.0, 0.5, -1.0]), constant, domain), "exact")
        assert result.success and list(result.x) == [1, 0.5, 0]
