"""Time limits reach everything that works for long: oracles, bounds, foreign solvers, factorisations, whole curves.

No test asserts a time: where a limit is missed, a hang guard says so.
"""

from __future__ import annotations

import faulthandler
import time
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.numerics.deadline import OutOfTime, afford, limited, remaining
from tiebreak.numerics.effort import sparse_lu, system_work
from tiebreak.numerics.quadratic_programme import QP, by_clarabel, by_piqp

HANG = 600.0  # seconds


@pytest.fixture(autouse=True)
def guard() -> Iterator[None]:
    faulthandler.dump_traceback_later(HANG, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def covering(m: int, n: int) -> tb.Polyhedron:
    """Rows that only a long linear programme satisfies all at once."""
    r = np.random.default_rng(0)
    columns = r.integers(0, n, (m, 10))
    A = sp.csr_array((r.uniform(0.1, 1, columns.size), (np.repeat(np.arange(m), 10), columns.ravel())), shape=(m, n))
    return tb.Polyhedron(A_ub=-A, b_ub=-0.4 * np.asarray(A.sum(axis=1)).ravel(), bounds=(0, 1))


def test_a_large_polyhedron_is_made_at_once_and_proved_in_time() -> None:
    started = time.perf_counter()
    Z = covering(20_000, 5_000)
    made = time.perf_counter() - started
    assert made < 60  # its linear programme alone takes longer
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=5_000), tb.Linear(np.ones(5_000)), Z), max_time=0.2)
    assert result.status is tb.Status.MAX_TIME and not result.success
    assert "not even a point of the domain was found" in result.message
    assert np.isnan(result.x).all() and np.isnan(result.f) and np.isnan(result.g)
    assert result.certificate.g_lower == -np.inf and result.certificate.f_lower == 0  # of a squared norm
    chain = tb.lexicographic([tb.Linear(np.ones(5_000)), tb.SquaredNorm(dim=5_000)], Z, max_time=0.2)
    assert not chain.success and np.isnan(chain.x).all() and "limit of 0.2 s" in chain.message


def test_small_polyhedra_are_refused_when_made() -> None:
    with pytest.raises(ValueError, match="empty"):
        tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[-1.0], bounds=(0, 1))


@pytest.mark.parametrize("method", ["cg-bio-anytime", "bi-sg"])
def test_oracles_and_bounds_stop_in_time(method: str) -> None:
    n = 1500
    lower = tb.LeastSquares(sp.random_array((n, n), density=0.01, rng=np.random.default_rng(1)), np.ones(n))
    problem = tb.Problem(tb.SquaredNorm(dim=n), lower, covering(n // 2, n))
    result = tb.solve(problem, method, max_time=0.5, tol_upper=1e-14, tol_lower=1e-14)
    assert result.status is tb.Status.MAX_TIME
    c = result.certificate
    assert c.g_lower <= c.g_upper and c.f_lower <= c.f_upper


def test_a_curve_has_one_limit() -> None:
    n = 1500
    lower = tb.LeastSquares(sp.random_array((n, n), density=0.01, rng=np.random.default_rng(1)), np.ones(n))
    problem = tb.Problem(tb.SquaredNorm(dim=n), lower, tb.Box(-np.ones(n), np.ones(n)))
    given: list[float] = []

    def note(event: tb.Event) -> None:
        given.append(remaining())

    curve = tb.tradeoff(problem, np.geomspace(1e-3, 1, 5), max_time=0.5, callback=note)
    assert len(curve.results) == 5
    assert max(given[:-1]) <= 0.25 and given[-1] <= 0.5  # half of what is left for each, for the last one all of it
    assert sum(result.time for result in curve.results) < 60


def test_what_does_not_fit_is_not_begun() -> None:
    with limited(1.0):
        afford(1e6)
        with pytest.raises(OutOfTime):
            afford(1e12)
    afford(1e30)  # without a limit


def random_system(n: int) -> tuple[sp.csr_array, sp.csr_array]:
    """A diagonal and rows whose factor is dense, but for the diagonal."""
    H = sp.csr_array(sp.eye_array(n))
    G = sp.csr_array(sp.random_array((n // 2, n), density=10 / n, rng=np.random.default_rng(0)))
    return H, G


def test_work_of_a_factorisation_is_bounded_without_doing_it() -> None:
    chain = sp.csr_array(sp.diags_array([np.ones(29_999), -np.ones(29_999)], offsets=[0, 1], shape=(29_999, 30_000)))
    H, G = random_system(6_000)
    with limited(1.0):
        few, many = system_work(sp.csr_array(sp.eye_array(30_000)), chain), system_work(H, G)
        sparse_lu(sp.csc_array(sp.eye_array(30_000)))
    assert few < 1e9 < many  # and not (6,000 + 3,000)^3 / 3 for either
    full = sp.block_array([[H, G.T], [G, -sp.eye_array(3_000)]])
    with limited(1.0), pytest.raises(OutOfTime):
        sparse_lu(sp.csc_array(full))


@pytest.mark.parametrize("solver", [by_piqp, by_clarabel])
def test_solvers_that_cannot_be_stopped_are_not_asked(solver) -> None:
    H, G = random_system(6_000)
    m, n = G.shape
    qp = QP(H, np.ones(n), G, np.zeros(m), np.zeros(m), -np.ones(n), np.ones(n))
    with limited(0.5), pytest.raises(OutOfTime):
        solver(qp)
    small = QP(*(M[:50, :50] for M in (H,)), np.ones(50), G[:10, :50], *(np.full(10, v) for v in (-1.0, 1.0)),
               -np.ones(50), np.ones(50))  # fmt: skip
    with limited(60.0):
        guess = solver(small)
    assert guess is not None and float(guess.v.min()) >= -1 - 1e-6


def test_limits_are_checked() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="max_time"):
            tb.solve(problem, max_time=wrong)
        with pytest.raises(ValueError, match="max_time"):
            tb.tradeoff(problem, [0.1], max_time=wrong)
    assert tb.solve(problem, max_time=None).success
    assert tb.tradeoff(problem, [0.1], max_time=None).results[0].success


@pytest.mark.parametrize("limit", [1e-320, 1e-6])
def test_a_start_is_not_looked_at_again_where_no_time_is_left(limit: float) -> None:
    problem = tb.Problem(tb.SquaredNorm(np.ones(4)), tb.LeastSquares(np.eye(3, 4), np.ones(3)), tb.L1Ball(2.0))
    result = tb.solve(problem, "cg-bio-anytime", x0=[0.1, 0.2, 0.0, 0.0], max_time=limit)
    assert result.status is tb.Status.MAX_TIME and problem.domain.contains(result.x)
