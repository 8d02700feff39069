"""Levels that are too large for singular values: full rank proved by a Gram matrix, steps by products with the data."""

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.definite import least_singular_value
from tiebreak.numerics.rank import _product, exact_rank


def random_sparse(m: int, n: int, each: int, seed: int) -> sp.csr_array:
    """About ``each`` entries in every line of the longer side, none of them empty."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((m, n), density=each / min(m, n), rng=rng, data_sampler=rng.standard_normal)
    long = np.arange(max(m, n))
    cover = sp.coo_array((rng.uniform(1, 2, long.size), (long % m, long % n)), shape=(m, n))
    return sp.csr_array(A + cover)


@pytest.mark.parametrize("shape", [(40, 300), (300, 40), (150, 150), (250, 1200)])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_smallest_singular_value_is_bounded_from_below(shape, form):
    A = random_sparse(*shape, 6, seed=sum(shape))
    true = np.linalg.svd(A.toarray(), compute_uv=False)[-1]
    proved = least_singular_value(A if form == "sparse" else A.toarray())
    assert proved <= true
    assert proved >= 0.1 * true or true < 1e-5


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6, 1e8, 1e12])
def test_the_bound_gives_up_before_it_could_be_wrong(condition):
    rng = np.random.default_rng(3)
    U, V = (np.linalg.qr(rng.normal(size=(n, 60)))[0] for n in (200, 60))
    proved = least_singular_value(U * np.geomspace(1, 1 / condition, 60) @ V.T)
    assert proved <= 1 / condition
    assert (proved > 0) == (condition < 1e7)


@pytest.mark.parametrize("shape", [(400, 150), (150, 400)])
def test_dependent_lines_have_no_bound(shape):
    A = random_sparse(*shape, 4, seed=7).toarray()
    if shape[0] > shape[1]:
        A[:, 0] = A[:, 1] - A[:, 2]
    else:
        A[0] = A[1] - A[2]
    assert least_singular_value(A) == 0.0
    assert least_singular_value(np.zeros((0, 3))) == 0.0


def refined_least_norm(A: sp.csr_array, b: np.ndarray) -> np.longdouble:
    """1/2 ||x||^2 of the least-norm interpolant, by its normal equations with residuals in extended precision."""
    wide = A.astype(np.longdouble)
    K = (A @ A.T).toarray()
    w = np.zeros(b.size, dtype=np.longdouble)
    for _ in range(6):
        w = w + np.linalg.solve(K, np.asarray(b - wide @ (wide.T @ w), dtype=float))
    x = wide.T @ w
    return x @ x / 2


def test_wide_data_in_a_box_that_does_not_bind():
    """5,000 free variables, all bounds proved: no assumption on multipliers, no word of wide brackets."""
    A = random_sparse(250, 5000, 4, seed=1)
    b = A @ np.random.default_rng(1).uniform(-1, 1, 5000)
    answer = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], tb.Box(-10, 10))[-1]
    true = refined_least_norm(A, b)
    assert answer.f_lower <= true <= answer.f_upper
    assert answer.width <= 1e-12
    assert answer.lower_unique is False
    assert answer.g_lower == 0.0
    assert not answer.notes
    assert not any("free variables" in words for words in answer.assumes)


def test_wide_data_in_a_box_that_binds():
    A = random_sparse(250, 5000, 4, seed=2)
    b = A @ np.random.default_rng(2).uniform(-1, 1, 5000)
    end = 0.6 * np.abs(A.T @ np.linalg.solve((A @ A.T).toarray(), b)).max()
    answer = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], tb.Box(-end, end))[-1]
    assert refined_least_norm(A, b) < answer.f_lower
    assert answer.width <= 1e-12
    assert np.abs(answer.x).max() <= end
    np.testing.assert_allclose(A @ answer.x, b, atol=1e-12)
    assert not any("free variables" in words for words in answer.assumes)


@pytest.mark.parametrize("end", [0.4, 50.0])
def test_tall_data(end):
    """2,000 columns: one solution only, which optimality conditions confirm."""
    A = random_sparse(6000, 2000, 4, seed=3)
    rng = np.random.default_rng(3)
    b = A @ rng.normal(size=2000) + rng.normal(size=6000)
    answer = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], tb.Box(-end, end))[-1]
    slope = A.T @ (A @ answer.x - b)
    at = np.abs(answer.x) == end
    assert np.abs(slope[~at]).max() <= 1e-11
    assert (slope[at] * answer.x[at] < 0).all()
    assert (at.sum() > 500) == (end < 1)
    assert answer.lower_unique is True
    assert answer.width <= 1e-13
    assert not any("free variables" in words for words in answer.assumes)


def test_errors_of_products_with_sparse_data_count_the_entries_of_a_row():
    A = random_sparse(20_000, 3000, 4, seed=4)
    b = A @ np.random.default_rng(4).normal(size=3000) + 1.0
    result = tb.solve(
        tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.Box(-0.5, 0.5)), tol_lower=1e-6, tol_upper=1e-6
    )
    assert result.success


@pytest.mark.parametrize("shape", [(150, 90), (90, 150), (400, 70), (33, 33)])
@pytest.mark.parametrize("rank", [0, 1, 31, 33])
def test_ranks_modulo_a_prime(shape, rank):
    """More columns than are eliminated together, with a pivot missing here and there."""
    rng = np.random.default_rng([*shape, rank])
    M = rng.integers(-3, 4, (shape[0], rank)) @ rng.integers(-3, 4, (rank, shape[1])) / 8
    M[:, 5:8] = 0.0
    assert exact_rank(M) == np.linalg.matrix_rank(M)


def test_products_modulo_a_prime_are_exact():
    rng = np.random.default_rng(0)
    p = 2147483629
    L, M = rng.integers(0, p, (4, 500)), rng.integers(0, p, (500, 3))
    assert (_product(L, M, p) == (L.astype(object) @ M.astype(object)) % p).all()
    ones = np.full((1, 600_000), p - 1)
    assert _product(ones, ones.T, p) == 600_000


def test_tall_data_with_columns_that_are_there_twice():
    """Independent rows of the images are held, in place of all of them."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(500, 60))
    A[:, 40:45] = A[:, :5]
    b = A @ rng.normal(size=60) + rng.normal(size=500)
    answer = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], tb.Box(-50, 50))[-1]
    x = np.linalg.lstsq(A, b, rcond=1e-12)[0]  # of least norm
    np.testing.assert_allclose(answer.x, x, atol=1e-12)
    assert answer.width <= 1e-12
    assert answer.f_lower - 1e-12 <= 0.5 * x @ x <= answer.f_upper + 1e-12
    assert answer.lower_unique is False


def test_dense_answers_over_an_l1_ball_are_left_to_rows():
    A = random_sparse(150, 2000, 4, seed=6)
    x = np.where(np.arange(2000) % 10 == 0, 1.0, 0.0)
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, A @ x), tb.L1Ball(2 * np.abs(x).sum()))
    result = tb.solve(problem, "exact")
    assert result.success
    true = refined_least_norm(A, A @ x)
    assert result.certificate.f_lower <= true <= result.certificate.f_upper
    assert result.nit <= 10


def test_a_simplex_with_many_assets():
    """Levels without curvature in stages: many portfolios without loss, and the most spread one of them."""
    rng = np.random.default_rng(7)
    R = rng.normal(size=(80, 600)) + 0.05
    answer = solve_rows([tb.LeastSquares(R, np.zeros(80)), tb.SquaredNorm()], tb.Simplex())[-1]
    assert answer.width <= 1e-12
    assert answer.x.min() >= 0
    np.testing.assert_allclose([answer.x.sum(), np.abs(R @ answer.x).max()], [1.0, 0.0], atol=1e-12)
    by_hand = answer.x - 1e-3 * answer.x * (answer.x > 0)  # nearer to zero, and no portfolio
    assert 0.5 * by_hand @ by_hand < answer.f_lower


def test_a_face_that_rounding_has_emptied_is_bounded_from_below(monkeypatch):
    """The sharp look at a tie ends in no answer of the linear programme: the loose one still bounds."""
    from tiebreak.engines.rows import solve as module
    from tiebreak.numerics.failures import LinearProgramError

    original = module._solve_in_good_units

    def failing(levels, domain, tol, sharp, *more):
        if sharp:
            raise LinearProgramError("no answer", "no answer")
        return original(levels, domain, tol, sharp, *more)

    monkeypatch.setattr(module, "_solve_in_good_units", failing)
    domain = tb.Polyhedron(A_ub=[[-0.1 - 0.2, -0.3]], b_ub=[-0.3], bounds=(0, 1))
    answers = solve_rows([tb.Linear([0.3, 0.3]), tb.SquaredNorm()], domain)
    assert not answers[-1].well_posed
    assert answers[-1].f_upper == np.inf
    assert answers[-1].f_lower <= 0.25 + 1e-9


@pytest.mark.parametrize("domain", [tb.L1Ball(5.0), tb.Box(-1.0, 1.0)], ids=["l1", "box"])
def test_tall_data_of_low_rank_take_no_more_than_a_few_copies(domain: tb.Domain) -> None:
    """3000 rows that are multiples of two: nothing as large as 3000 x 3000, which is 72 MB."""
    import tracemalloc

    rng = np.random.default_rng(0)
    n, d = 3000, 6
    rows = np.repeat(rng.standard_normal((2, d)), n // 2, axis=0) * rng.uniform(0.5, 1.5, (n, 1))
    x = rng.uniform(-0.2, 0.2, d)
    problem = tb.Problem(tb.SquaredNorm(np.full(d, 0.1)), tb.LeastSquares(rows, rows @ x, 1 / n), domain)
    tracemalloc.start()
    try:
        result = tb.solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.success
    pair = rows[[0, -1]]
    nearest = 0.1 + np.linalg.pinv(pair) @ (pair @ x - pair.sum(axis=1) * 0.1)
    np.testing.assert_allclose(result.x, nearest, atol=1e-7)
    assert peak < 3e7
