"""The methods of the CG-BiO paper's comparison and their ancestors: conformance, naive twins, rates."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from known.classics import holder, knapsack, min_norm, toy
from problems import Instance
from tiebreak.methods.a_irg import AIRG
from tiebreak.methods.apdb import APDB
from tiebreak.methods.big_sam import BiGSAM
from tiebreak.methods.cabot import Cabot
from tiebreak.methods.dbgd import DBGD
from tiebreak.methods.hsdm import HSDM
from tiebreak.methods.ibig_sam import IBiGSAM
from tiebreak.methods.mng import MNG, nearest_in_two_half_spaces
from tiebreak.methods.sam import SAM
from tiebreak.methods.shared.curvature import hessian, isotropic, strong_convexity
from tiebreak.methods.solodov import Solodov
from tiebreak.methods.tikhonov import Tikhonov
from tiebreak.methods.tseng import Tseng

METHODS = [MNG, BiGSAM, IBiGSAM, Tseng, AIRG, DBGD, APDB, Tikhonov, Solodov, Cabot, HSDM, SAM]
NAMES = ["mng", "big-sam", "ibig-sam", "tseng", "a-irg", "dbgd", "apdb", "tikhonov", "solodov", "cabot", "hsdm", "sam"]


@pytest.mark.parametrize("method", METHODS)
def test_conformance(method) -> None:
    assert tb.testing.check_solver(method(), updates=30) > 30


def test_names() -> None:
    assert [method.info.name for method in METHODS] == NAMES


# -- twins of the paper's appendix, with its authors' parameters -------------------------------------------------------


def onto_l1_ball(v: np.ndarray, radius: float) -> np.ndarray:
    if np.abs(v).sum() <= radius:
        return v
    u = np.sort(np.abs(v))[::-1]
    sums = np.cumsum(u) - radius
    rho = np.flatnonzero(u * np.arange(1, v.size + 1) > sums)[-1]
    return np.sign(v) * np.maximum(np.abs(v) - sums[rho] / (rho + 1), 0)


class Regression:
    """Training and validation error over an l1 ball; gradients and constants computed here."""

    radius = 1.0
    dim = 9

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        self.A, self.b = rng.standard_normal((12, 9)), rng.standard_normal(12)
        self.B, self.c = rng.standard_normal((5, 9)), rng.standard_normal(5)
        self.L_f, self.L_g = np.linalg.norm(self.A, 2) ** 2, np.linalg.norm(self.B, 2) ** 2
        f, g = tb.LeastSquares(self.A, self.b), tb.LeastSquares(self.B, self.c)
        self.problem = tb.Problem(f, g, tb.L1Ball(self.radius))

    def grad_f(self, x: np.ndarray) -> np.ndarray:
        return self.A.T @ (self.A @ x - self.b)

    def g(self, x: np.ndarray) -> float:
        return 0.5 * np.sum((self.B @ x - self.c) ** 2)

    def grad_g(self, x: np.ndarray) -> np.ndarray:
        return self.B.T @ (self.B @ x - self.c)


class Fairness:
    """A logistic loss and the squared covariance of its scores with a sensitive attribute."""

    radius = 3.0
    dim = 6
    L_f = L_g = np.nan  # the paper's steps are plain numbers here

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.A, self.y = rng.standard_normal((40, 6)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
        self.v = np.where(rng.random(40) < 0.4, 1.0, 0.0)
        f = tb.SquaredCovariance(self.A, self.v)
        self.problem = tb.Problem(f, tb.Logistic(self.A, self.y), tb.L1Ball(self.radius))
        self.grad_f = f.grad  # tested on its own

    def g(self, x: np.ndarray) -> float:
        return float(np.mean(np.log1p(np.exp(-self.y * (self.A @ x)))))

    def grad_g(self, x: np.ndarray) -> np.ndarray:
        return -self.A.T @ (self.y / (1 + np.exp(self.y * (self.A @ x)))) / self.y.size


def big_sam(data, eta_f: float, eta_g: float, gamma: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x = y = np.zeros(data.dim)
    k = 0
    while True:
        yield x, y
        k += 1
        y = onto_l1_ball(x - eta_g * data.grad_g(x), data.radius)
        z = x - eta_f * data.grad_f(x)
        alpha = min(gamma / k, 1)
        x = alpha * z + (1 - alpha) * y


def ibig_sam(data, eta_f: float, eta_g: float, gamma: float, alpha: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x = before = s = np.zeros(data.dim)
    k = 0
    while True:
        yield x, s
        k += 1
        beta = min(gamma / k, 1)
        theta = k / (k + alpha - 1)
        if np.linalg.norm(x - before) > 0:
            theta = min(theta, beta * k**-0.01 / np.linalg.norm(x - before))
        y = x + theta * (x - before)
        s = onto_l1_ball(y - eta_g * data.grad_g(y), data.radius)
        before, x = x, beta * (y - eta_f * data.grad_f(y)) + (1 - beta) * s


def a_irg(data, gamma0: float, eta0: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """With the average of Kaushik and Yousefian, all iterates kept."""
    x, k, past = np.zeros(data.dim), 0, [np.zeros(data.dim)]
    while True:
        weights = np.array([(gamma0 / np.sqrt(j + 1)) ** 0.5 for j in range(k + 1)])
        yield x, weights @ np.array(past) / weights.sum()
        slope = data.grad_g(x) + eta0 / (k + 1) ** 0.25 * data.grad_f(x)
        x = onto_l1_ball(x - gamma0 / np.sqrt(k + 1) * slope, data.radius)
        k += 1
        past.append(x)


def dbgd(data, step: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x = np.zeros(data.dim)
    while True:
        yield x, x
        a, c = data.grad_f(x), data.grad_g(x)
        phi = min(data.g(x), c @ c)
        lam = max((phi - a @ c) / (c @ c), 0)
        x = onto_l1_ball(x - step * (a + lam * c), data.radius)


R, F = Regression(), Fairness()
TWINS = {
    "big-sam, regression": (R, BiGSAM(2 / R.L_f, 1 / R.L_g, 10), big_sam(R, 2 / R.L_f, 1 / R.L_g, 10)),
    "big-sam, the released weights": (F, BiGSAM(0.1, 0.1, 2 * 1), big_sam(F, 0.1, 0.1, 2)),
    "big-sam, fairness": (F, BiGSAM(0.1, 0.1, 1), big_sam(F, 0.1, 0.1, 1)),
    "ibig-sam": (R, IBiGSAM(1 / R.L_f, 1 / R.L_g, 3, 2), ibig_sam(R, 1 / R.L_f, 1 / R.L_g, 2, 3)),
    "a-irg, regression": (R, AIRG(0.01, 1), a_irg(R, 0.01, 1)),
    "a-irg, fairness": (F, AIRG(5, 0.1), a_irg(F, 5, 0.1)),
    "dbgd, regression": (R, DBGD(1e-4, g_hat=0), dbgd(R, 1e-4)),
    "dbgd, fairness": (F, DBGD(0.08, g_hat=0), dbgd(F, 0.08)),
}


@pytest.mark.parametrize("case", TWINS)
def test_iterates_are_those_of_a_naive_twin(case: str) -> None:
    data, solver, twin = TWINS[case]
    states = tb.iterate(data.problem, solver, x0=np.zeros(data.dim))
    for state, (x, reported) in islice(zip(states, twin, strict=False), 200):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(solver.solution(state), reported, rtol=0, atol=1e-12)
    assert state.k == 199


def test_a_irg_reports_the_last_iterate_on_demand() -> None:
    solver = AIRG(0.01, 1, average=False)
    state = list(islice(tb.iterate(R.problem, solver), 9))[-1]
    assert solver.solution(state) is state.x


# -- APDB: twins and the authors' toy ----------------------------------------------------------------------------------


def apdb(grad_f, G, jacobian, project, x: np.ndarray, tau: float) -> Iterator[np.ndarray]:
    y, sigma_old, tau_old, G_old = np.zeros(G(x).size), tau, tau, G(x)
    while True:
        yield x
        Gx = G(x)
        while True:
            theta = sigma_old / tau
            y_new = np.maximum(0, y + tau * ((1 + theta) * Gx - theta * G_old))
            slope = grad_f(x) + jacobian(x).T @ y_new
            x_new = project(x - tau * slope)
            d, dG = x_new - x, G(x_new) - Gx
            bend = grad_f(x_new) + jacobian(x_new).T @ y_new - slope
            if bend @ d + 2 * tau * (dG @ dG) - d @ d / (2 * tau) <= 0:
                break
            tau *= 0.7
        tau, tau_old, sigma_old = tau * np.sqrt(1 + tau / tau_old), tau, tau
        x, y, G_old = x_new, y_new, Gx


TOY_ROWS = np.array([[-1.0, -1.0], [1.0, 1.0], [4.0, 6.0]])


def toy_apdb(x: np.ndarray, level: float) -> Iterator[np.ndarray]:
    """g <= level and the two rows have multipliers, x >= 0 is projected on."""
    bounds = np.array([level, 1.0, 5.0])
    return apdb(
        lambda x: np.array([x[0] - 0.5, 0.1]),
        lambda x: TOY_ROWS @ x - bounds,
        lambda x: TOY_ROWS,
        lambda x: np.maximum(x, 0),
        x,
        1e-2,
    )


@pytest.mark.parametrize("level", [-1.0, -1.0 + 1e-5])
def test_apdb_on_the_toy_equals_its_twin(level: float) -> None:
    start = np.array([0.5, 0.5])
    states = tb.iterate(toy().problem, APDB(level=level, tau0=1e-2), x0=start)
    for state, x in islice(zip(states, toy_apdb(start, level), strict=False), 193):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("level", "updates"), [(-1.0, 192), (-1.0 + 1e-5, 167)])
def test_apdb_needs_the_authors_number_of_updates(level: float, updates: int) -> None:
    """Their stopping test: f - f* <= 1e-5 (signed), and the violated constraints sum to 1e-5 at most."""
    problem = toy().problem
    for state in islice(tb.iterate(problem, APDB(level=level, tau0=1e-2), x0=[0.5, 0.5]), 300):
        violation = np.maximum(TOY_ROWS @ state.x - [level, 1.0, 5.0], 0).sum()
        if state.k > 0 and problem.upper.value(state.x) + 0.08 <= 1e-5 and violation <= 1e-5:
            break
    assert state.k == updates


def test_apdb_iterates_are_those_of_the_authors() -> None:
    folder = os.environ.get("TIEBREAK_DATA")
    if folder is None:
        pytest.skip("TIEBREAK_DATA is not set: the comparison with the authors' 192 recorded iterates is left out")
    with np.load(Path(folder) / "toy_reference.npz") as file:
        points = file["apdb_x"]
    problem = toy().problem
    solver = APDB(level=problem.lower.value(points[0]), tau0=1e-2)  # no relaxation: g at their start, -1 + 6e-11
    ours = np.array([state.x for state in islice(tb.iterate(problem, solver, x0=points[0]), 193)])
    np.testing.assert_allclose(ours, points, rtol=0, atol=1e-12)


def test_apdb_through_the_projection_equals_its_twin() -> None:
    start = np.zeros(R.dim)
    twin = apdb(
        R.grad_f,
        lambda x: np.array([R.g(x) - 0.3]),
        lambda x: R.grad_g(x)[None, :],
        lambda x: onto_l1_ball(x, 1.0),
        start,
        1.0,
    )
    for state, x in islice(zip(tb.iterate(R.problem, APDB(level=0.3, tau0=1.0), x0=start), twin, strict=False), 100):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-12)


def test_apdb_reports_the_average_on_demand() -> None:
    """Weighted by the dual step sizes."""
    solver = APDB(level=0.3, average=True)
    states = list(islice(tb.iterate(R.problem, solver), 50))
    weights = np.array([state.sigma for state in states[1:]])
    mean = weights @ np.array([state.x for state in states[1:]]) / weights.sum()
    np.testing.assert_allclose(solver.solution(states[-1]), mean, rtol=0, atol=1e-12)


def test_apdb_finds_its_level_between_the_tolerance_and_half_of_it() -> None:
    known = min_norm(1)
    states = tb.iterate(known.problem, APDB(), tol_lower=1e-2)
    state = next(state for state in states if state.run is None)
    assert known.g_star + 0.5e-2 <= state.level <= known.g_star + 1e-2


# -- Tseng and Chambolle-Pock ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("upper", ["distance", "linear"])
def test_tseng_equals_chambolle_pock_on_least_squares(upper: str) -> None:
    rng = np.random.default_rng(2)
    B, b, p = rng.standard_normal((4, 7)), rng.standard_normal(4), rng.standard_normal(7)
    f = 3.0 * tb.SquaredNorm(p) + tb.Linear(p) if upper == "distance" else tb.Linear(p)
    mu, pull = (3.0, 2 * p) if upper == "distance" else (0.0, -p)
    problem = tb.Problem(f, tb.LeastSquares(B, b), tb.Box(-np.ones(7), np.ones(7)))
    tau = 0.5
    sigma = 0.99 / (tau * np.linalg.norm(B, 2) ** 2)
    x = before = np.zeros(7)
    y, past = np.zeros(4), []
    solver = Tseng(sigma=sigma, tau=tau)
    for state in islice(tb.iterate(problem, solver, x0=x), 400):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-10)
        if past:
            np.testing.assert_allclose(solver.solution(state), np.mean(past, axis=0), rtol=0, atol=1e-10)
        y = y + sigma * (B @ (2 * x - before) - b)
        before, x = x, np.clip((x - tau * B.T @ y + tau * pull) / (1 + tau * mu), -1, 1)
        past.append(x)


# -- MNG ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_mng_subproblem_against_a_qp_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 5
    S = rng.standard_normal((d + 2, d))
    H = np.eye(d) if seed % 3 == 0 else S.T @ S
    a, rows, inside = rng.standard_normal(d), rng.standard_normal((2, d)), rng.standard_normal(d)
    if seed % 4 == 1:
        rows[1] = -0.7 * rows[0] if seed % 8 == 1 else 2 * rows[0]  # parallel
    if seed % 4 == 2:
        rows[1] = 0.0
    bounds = rows @ inside + rng.choice([0.0, 0.3], 2)
    scale = 10.0 ** rng.integers(-8, 9)
    root = np.array(1.0) if seed % 3 == 0 else np.linalg.cholesky(H)
    ours = nearest_in_two_half_spaces(a, root, scale * rows, scale * bounds)
    z = cp.Variable(d)
    cp.Problem(cp.Minimize(cp.quad_form(z - a, cp.psd_wrap(H))), [rows @ z <= bounds]).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    assert (rows @ ours <= bounds + 1e-10).all()
    np.testing.assert_allclose(ours, z.value, rtol=0, atol=2e-5)
    assert (ours - a) @ H @ (ours - a) <= (z.value - a) @ H @ (z.value - a) + 1e-8


@pytest.mark.parametrize("upper", ["distance", "quadratic"])
def test_mng_approaches_from_below_and_equals_its_twin(upper: str) -> None:
    rng = np.random.default_rng(4)
    S, p = rng.standard_normal((8, 5)), rng.standard_normal(5)
    H = np.eye(5) if upper == "distance" else S.T @ S
    f = tb.SquaredNorm(p) if upper == "distance" else tb.Quadratic(H, -H @ p)
    B, b = rng.standard_normal((2, 5)), rng.standard_normal(2)
    M = np.linalg.norm(B, 2) ** 2
    problem = tb.Problem(f, tb.LeastSquares(B, b), tb.L2Ball(1.5))
    x, values = p, []
    for state in islice(tb.iterate(problem, MNG(M)), 12):
        np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-5)
        values.append(f.value(state.x))
        x, z = state.x, cp.Variable(5)  # from the library's iterate, so that the errors of the QP do not add up
        v = x - B.T @ (B @ x - b) / M
        G = M * (x - v * min(1, 1.5 / np.linalg.norm(v)))
        half_spaces = [G @ (x - z) >= 3 / (4 * M) * G @ G, (H @ (x - p)) @ (z - x) >= 0]
        cp.Problem(cp.Minimize(cp.quad_form(z - p, cp.psd_wrap(H))), half_spaces).solve(solver="CLARABEL")
        x = z.value
    assert (np.diff(values) >= -1e-12).all()  # minima over ever smaller sets


def test_mng_doubles_an_unknown_constant_and_keeps_all_solutions() -> None:
    known = knapsack(2)
    g = tb.Function(known.problem.lower.value, known.problem.lower.grad, dim=10, convex=True)
    problem = tb.Problem(known.problem.upper, g, known.problem.domain)
    gaps = []
    for state in islice(tb.iterate(problem, MNG()), 300):
        assert problem.upper.value(state.x) <= known.f_star + 1e-9
        gaps.append(known.problem.lower.value(state.y) - known.g_star)
    assert state.M <= 2 * 10  # L_g = 10
    assert min(gaps[1:]) <= 1e-2 * gaps[1]  # O(1/sqrt(k)) leaves 6 %; how far below depends on where M begins


@pytest.mark.parametrize(
    "upper",
    [tb.Linear([1.0, 2.0]), tb.Logistic([[1.0, 2.0], [2.0, 1.0]], [1, -1]), tb.LeastSquares([[1.0, 1.0]], [1.0])],
)
def test_mng_says_which_upper_levels_it_takes(upper) -> None:
    with pytest.raises(ValueError, match=r"mng .* strongly convex quadratic"):
        tb.solve(tb.Problem(upper, tb.SquaredNorm(), tb.L2Ball(1.0)), MNG())


# -- both gaps, and rates ----------------------------------------------------------------------------------------------


def gaps(known: Instance, solver, updates: int, corner: float = 1.0) -> np.ndarray:
    problem = known.problem
    x0 = problem.domain.lmo(-corner * np.ones(problem.dim))
    points = [solver.solution(state) for state in islice(tb.iterate(problem, solver, x0=x0), updates + 1)]
    return np.array([[problem.upper.value(x) - known.f_star, problem.lower.value(x) - known.g_star] for x in points])


def ill_conditioned(n: int = 100, d: int = 110) -> Instance:
    """The smallest solution of equations with singular values 1/i and components i^-0.6.

    The minimum of g + sigma f has a lower gap of order sigma^1.1 as long as sigma > 1/n^2: 1/k is almost tight for
    methods whose weight of f falls as 1/k.
    """
    rng, i = np.random.default_rng(0), np.arange(1, n + 1)
    V = np.linalg.qr(rng.standard_normal((d, d)))[0][:n]
    A, x = V / i[:, None], V.T @ i**-0.6
    problem = tb.Problem(tb.SquaredNorm(dim=d), tb.LeastSquares(A, A @ x), tb.L2Ball(2 * float(np.linalg.norm(x))))
    return Instance(problem, 0.0, 0.0, 0.5 * float(x @ x), 0.0, x)


def slope(values: np.ndarray) -> float:
    """d log(value) / d log(k) over the last nine tenths."""
    k = np.unique(np.geomspace(values.size // 10, values.size - 1, 50).astype(int))
    return float(np.polyfit(np.log(k), np.log(np.maximum(np.abs(values[k]), 1e-16)), 1)[0])


KNOWN = {"knapsack": knapsack(0), "minimum norm": min_norm(0), "Hölder": holder(0, 2), "Hölder 3": holder(1, 3)}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("method", METHODS)
def test_both_gaps_fall(method, name: str) -> None:
    if method is DBGD and name == "knapsack":
        pytest.skip("the bounds are active: the projected steps stop where neither level is optimal")
    found = np.abs(gaps(KNOWN[name], method(), 1000))
    limit = 0.5 if method in (AIRG, APDB, DBGD) else 0.1
    assert (found[-1] <= limit * found[0]).all(), found[[0, -1]]


RATES = {MNG: 0.5, BiGSAM: 1.0, Tseng: 1.0, AIRG: 0.25}


@pytest.mark.parametrize("method", RATES)
def test_lower_gaps_fall_at_least_as_fast_as_the_theorem_says(method) -> None:
    for known in (ill_conditioned(), min_norm(0)):
        lower = np.minimum.accumulate(gaps(known, method(), 5000)[:, 1])
        assert slope(lower) <= -RATES[method] + 0.06


def test_upper_gap_of_a_irg_falls_at_least_as_fast_as_the_theorem_says() -> None:
    upper = gaps(holder(0, 1), AIRG(), 3000, corner=-1.0)[:, 0]
    assert upper[-1] > 0  # from above, where the bound says something
    assert slope(upper) <= -0.25 + 0.06


def test_tikhonov_finds_the_regularised_solution() -> None:
    known = ill_conditioned()
    A, b = known.problem.lower.A, known.problem.lower.b
    x = np.linalg.solve(A.T @ A + 1e-3 * np.eye(A.shape[1]), A.T @ b)
    state = list(islice(tb.iterate(known.problem, Tikhonov(sigma=1e-3)), 1601))[-1]  # without restarts: 4e-5
    np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-8)
    assert state.multiplier == pytest.approx(1000.0)


def test_cabot_takes_proximal_steps() -> None:
    """Unconstrained there, the prox is a linear system."""
    known = min_norm(3)
    A, b = known.problem.lower.A, known.problem.lower.b
    states = list(islice(tb.iterate(known.problem, Cabot(eps0=0.5, prox=2.0), x0=np.zeros(A.shape[1])), 20))
    for k in range(19):
        H = A.T @ A + (0.5 / (k + 1) + 0.5) * np.eye(A.shape[1])
        x = np.linalg.solve(H, A.T @ b + 0.5 * states[k].x)
        assert np.linalg.norm(states[k + 1].x - x) <= 0.01 * known.problem.domain.diameter / (k + 1) ** 2


def test_solodov_steps_satisfy_armijo_without_any_smoothness() -> None:
    known = holder(0, 4)
    g = known.problem.lower
    unknown = tb.Function(g.value, g.grad, dim=4, convex=True)
    problem = tb.Problem(known.problem.upper, unknown, known.problem.domain)
    states = list(islice(tb.iterate(problem, Solodov(trial=50.0), x0=np.ones(4)), 300))
    for before, after in pairwise(states):
        sigma = 1 / after.multiplier
        slope = g.grad(before.x) + sigma * problem.upper.grad(before.x)
        phi = [g.value(s.x) + sigma * problem.upper.value(s.x) for s in (before, after)]
        assert phi[1] <= phi[0] + 0.1 * slope @ (after.x - before.x) + 1e-13
    assert g.value(states[-1].x) < 1e-2 * g.value(states[0].x)


# -- defaults, words, facts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [BiGSAM, IBiGSAM, Tseng, AIRG, DBGD, Tikhonov, Cabot, HSDM, SAM])
def test_an_unknown_smoothness_is_a_clear_error(method) -> None:
    g = tb.Function(lambda x: float(x @ x), lambda x: 2 * x, dim=2, convex=True)
    with pytest.raises(ValueError, match="smoothness of the lower level"):
        tb.solve(tb.Problem(tb.SquaredNorm(), g, tb.L2Ball(1.0)), method())


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("method", [m for m in METHODS if m is not DBGD])
def test_defaults_do_not_depend_on_units(method, scale: float) -> None:
    """x in other units, and both objectives multiplied: the gaps fall as before."""
    known = min_norm(0)
    A, b = known.problem.lower.A, known.problem.lower.b
    ball = tb.L2Ball(known.problem.domain.radius * scale)
    problem = tb.Problem((1 / scale) * tb.SquaredNorm(dim=9), tb.LeastSquares(A / scale, b), ball)
    scaled = Instance(problem, 0.0, 0.0, known.f_star * scale, 0.0, known.x_star)
    solver = APDB(level=1e-4) if method is APDB else method()
    found = np.abs(gaps(scaled, solver, 500))
    limit = 0.9 if method in (AIRG, APDB) else 0.5
    assert np.isfinite(found).all() and (found[-1] <= limit * found[0]).all()


def test_a_set_of_one_point() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.Box([0.5, 0.5], [0.5, 0.5]))
    for method in METHODS:
        result = tb.solve(problem, method(), max_iter=3, tol_upper=1e-6, tol_lower=1e-6)
        np.testing.assert_array_equal(result.x, [0.5, 0.5])
        assert result.success


@pytest.mark.parametrize(
    ("solver", "upper", "word"),
    [
        (BiGSAM(), tb.Linear([1.0, 1.0]), "strongly convex"),
        (Tseng(), tb.SquaredCovariance([[1.0, 2.0], [0.0, 1.0]], [0, 1]), "a convex upper level"),
        (DBGD(), tb.SquaredNorm(), "without constraints"),
    ],
)
def test_outside_its_theory_a_method_says_so_once(solver, upper, word: str, caplog) -> None:
    with caplog.at_level(logging.WARNING, logger="tiebreak"):
        tb.solve(tb.Problem(upper, tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0)), solver, max_iter=5)
    assert sum(word in record.message for record in caplog.records) == 1


def test_no_word_where_the_theory_holds(caplog) -> None:
    tb.solve(min_norm(0).problem, BiGSAM(), max_iter=5)
    assert not caplog.records


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: BiGSAM(eta_f=-1.0), "eta_f"),
        (lambda: IBiGSAM(alpha=2.0), "alpha"),
        (lambda: SAM(power=1.5), "power"),
        (lambda: HSDM(eta_g=0.0), "eta_g"),
        (lambda: Tseng(tau=np.nan), "tau"),
        (lambda: AIRG(b=0.5), "b must"),
        (lambda: AIRG(r=1.0), "r must"),
        (lambda: DBGD(step=0.0), "step"),
        (lambda: DBGD(g_hat=np.inf), "g_hat"),
        (lambda: APDB(shrink=1.0), "shrink"),
        (lambda: APDB(level=np.nan), "level"),
        (lambda: Tikhonov(sigma=0.0), "sigma"),
        (lambda: Solodov(theta=0.0), "theta"),
        (lambda: Cabot(prox=-1.0), "prox"),
        (lambda: MNG(M=0.0), "M must"),
    ],
)
def test_wrong_parameters_are_named(make, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        make()


def test_curvature_facts() -> None:
    rng = np.random.default_rng(0)
    A, q = rng.standard_normal((7, 4)), 1e8 * rng.standard_normal(4)
    H = A.T @ A
    np.testing.assert_allclose(hessian(tb.Quadratic(H, q), 4), H, rtol=0, atol=1e-13 * np.abs(H).max() * 8)
    mu = np.linalg.eigvalsh(H)[0]
    assert strong_convexity(tb.LeastSquares(A, np.ones(7)), 4) == pytest.approx(mu, rel=1e-9)
    assert strong_convexity(tb.LeastSquares(A[:3], np.ones(3)), 4) == 0.0
    assert strong_convexity(2.0 * tb.SquaredNorm(q) + tb.Linear(q), 4) == 2.0
    assert strong_convexity(tb.Huber(A, np.ones(7), 0.1) + tb.SquaredNorm(), 4) == 1.0
    assert strong_convexity(3.0 * (tb.Huber(A, np.ones(7), 0.1) + tb.SquaredNorm()), 4) == 3.0
    found = isotropic(2.0 * (tb.SquaredNorm(q) + tb.Linear(np.ones(4))), 4)
    assert found is not None and found[0] == 2.0
    np.testing.assert_array_equal(found[1], 2 * (q - 1))
    assert isotropic(tb.Quadratic(H, q), 4) is None
