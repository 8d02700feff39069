"""The successors of CG-BiO: conformance, naive twins, and the bounds of their theorems at every iterate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np
import pytest
from successor_twins import (
    TIGHT,
    Data,
    agm_bio,
    bi_fista,
    bi_sg,
    box,
    fbi_pg,
    greedy_fista,
    ir_cg,
    r_apm,
    stabim,
    stages,
)

import tiebreak as tb
from known.soundness import sweep
from problems import Instance
from tiebreak.methods.adabim import AdaBiM
from tiebreak.methods.agm_bio import AGMBiO
from tiebreak.methods.apb_apg import APBAPG
from tiebreak.methods.bi_fista import BiFISTA
from tiebreak.methods.bi_sg import BiSG
from tiebreak.methods.bisec_bio import BisecBiO, project_sublevel
from tiebreak.methods.fbi_pg import FBiPG
from tiebreak.methods.fc_bio import FCBiO, Model, minimax_step
from tiebreak.methods.ir_cg import IRCG
from tiebreak.methods.pb_apg import PBAPG, Greedy
from tiebreak.methods.r_apm import RAPM
from tiebreak.methods.sbcgf import SBCGF
from tiebreak.methods.sbcgi import SBCGI
from tiebreak.methods.stabim import StaBiM

METHODS = [IRCG, AGMBiO, PBAPG, APBAPG, FCBiO, BisecBiO, BiSG, FBiPG, RAPM, BiFISTA, StaBiM, AdaBiM, SBCGI, SBCGF]
every_method = pytest.mark.parametrize("method", METHODS)


@every_method
def test_conformance(method) -> None:
    assert tb.testing.check_solver(method(), updates=40) > 50


def test_conformance_of_the_variant_with_a_bound() -> None:
    assert tb.testing.check_solver(PBAPG(variant="fista"), updates=40) > 50


# -- twins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("solver", "twin", "updates", "tol"),
    [
        (IRCG(), ir_cg, 60, 1e-11),
        (BiSG(), bi_sg, 60, 1e-11),
        (FBiPG(), fbi_pg, 60, 1e-11),
        (RAPM(), r_apm, 60, 1e-10),
        (BiFISTA(), bi_fista, 60, 1e-11),
        (StaBiM(), stabim, 60, 1e-11),
        (PBAPG(), greedy_fista, 60, 1e-10),
        (APBAPG(), stages, 400, 1e-8),
        (AGMBiO(), agm_bio, 12, 1e-6),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_equals_its_twin(solver, twin, updates: int, tol: float, seed: int) -> None:
    data = Data(seed)
    states = tb.iterate(data.problem, solver, x0=data.x0)
    for state, x in islice(zip(states, twin(data), strict=False), updates):
        np.testing.assert_allclose(solver.solution(state), x, atol=tol)


@pytest.mark.parametrize("seed", range(3))
def test_adabim_steps_satisfy_its_conditions(seed: int) -> None:
    """The recursion of gamma_k, written again from the iterates, and the curvature test of every step."""
    d = Data(seed)
    states = list(islice(tb.iterate(d.problem, AdaBiM(), x0=d.x0), 60))
    for before, state, after in zip(states[:-2], states[1:-1], states[2:], strict=True):
        unit, sigma, new = state.unit, state.sigma, after.sigma
        assert new == min(max(1 / after.k, 0.75 * sigma), sigma)
        slope = lambda x, s=new, unit=unit: d.g(x) + s * unit * d.f(x)  # noqa: E731
        np.testing.assert_allclose(after.x, box(state.x - after.step * slope(state.x)), atol=1e-12)
        move = after.x - state.x
        assert after.step * move @ (slope(after.x) - slope(state.x)) <= 0.98 * move @ move * (1 + 1e-9) + 1e-25
        dx = state.x - before.x
        if not dx.any():
            continue
        dG, dg = slope(state.x, sigma) - slope(before.x, sigma), d.g(state.x) - d.g(before.x)
        C, L, L_g = dG @ dG / (dG @ dx), dG @ dx / (dx @ dx), dg @ dx / (dx @ dx)
        tau_p, tau, gamma = sigma / before.sigma, new / sigma, state.step
        D = gamma * L * (gamma * C - 1)
        bounds = [np.sqrt((1 + gamma / before.step * tau_p) * tau_p)]
        if D > 0:
            bounds.append(np.sqrt(1 - 4 * (1 - tau_p) * gamma * L_g) / (2 * np.sqrt(D)))
        proposed = gamma / tau * min(bounds)
        halvings = np.log2(proposed / after.step)
        assert halvings == pytest.approx(round(halvings), abs=1e-6) and halvings > -1e-6


def test_greedy_steps_fall_back_where_they_grow() -> None:
    d = Data(0)
    run = Greedy(d.x0, d.x0, scale=1.3, first=1e-9).step(d.problem, 0.0, 1 / d.Lg)
    assert run.scale == pytest.approx(0.96 * 1.3) and run.moved > 1e-9
    assert Greedy(d.x0, d.x0, scale=1.0, first=1e-9).step(d.problem, 0.0, 1 / d.Lg).scale == 1.0


# -- theorems -----------------------------------------------------------------------------------------------------

ITERATES = 100


@cache
def convex_instances() -> list[Instance]:
    """Twenty bilevel problems (no slack) with a convex upper level, of many kinds."""
    found = (known for *_, known in sweep(60, 5, []))
    return list(islice((k for k in found if k.problem.upper.convex and k.problem.slack == 0), 20))


every_problem = pytest.mark.parametrize("number", range(20))


def constants(known: Instance) -> tuple[float, float, float]:
    """L_f, L_g and D; for a linear level, whose L is any positive number, the one the methods take."""
    problem, D = known.problem, known.problem.domain.diameter
    x = problem.domain.lmo(np.zeros(problem.dim))
    L = [part.smoothness or np.linalg.norm(part.grad(x)) / D for part in (problem.upper, problem.lower)]
    return float(L[0]), float(L[1]), D


def run(known: Instance, solver) -> list[tuple[int, np.ndarray, tb.State]]:
    slow = isinstance(known.problem.domain, tb.Polyhedron | tb.Birkhoff)  # a projection is an interior-point solve
    states = islice(tb.iterate(known.problem, solver), 12 if slow else ITERATES)
    return [(state.k, solver.solution(state), state) for state in states][1:]


def rounding(known: Instance) -> float:
    return known.f_tol + known.g_tol + 1e-9 * (1 + abs(known.g_star) + abs(known.f_star))


@every_problem
def test_ir_cg_telescoped_inequality(number: int) -> None:
    known = convex_instances()[number]
    Lf, Lg, D = constants(known)
    f, g = known.f.value, known.g.value
    Cf, Cg, slop = Lf * D**2, Lg * D**2, rounding(known)
    sigma = lambda k: Lg / Lf / np.sqrt(k + 1)  # noqa: E731
    gaps = [None]
    for t, average, state in run(known, IRCG()):
        gaps.append(f(state.x) - known.f_star)
        bound = 2 * t * Cg + 2 * Cf * sum(sigma(k) for k in range(t))
        weights = [k * (k + 1) * (sigma(k - 1) - sigma(k)) for k in range(1, t)] + [t * (t + 1) * sigma(t - 1)]
        total = sum(weights)
        left = np.dot(weights, gaps[1:]) + t * (t + 1) * (g(state.x) - known.g_star)
        assert left <= bound + slop * (total + t * (t + 1))
        assert f(average) - known.f_star <= bound / total + slop  # the rate O(1/sqrt(t)) of the upper level


@every_problem
def test_agm_bio_rates(number: int) -> None:
    """f - f* <= 4 L_f ||x_0 - x*||^2 / (k (k+1)), and the O(1/k) of g with its constants."""
    known = convex_instances()[number]
    Lf, Lg, D = constants(known)
    x0 = known.problem.domain.lmo(np.zeros(known.problem.dim))
    R2, slop = float(np.sum((x0 - known.x_star) ** 2)), rounding(known)
    for k, x, _ in run(known, AGMBiO()):
        assert known.f.value(x) - known.f_star <= 4 * Lf * R2 / (k * (k + 1)) * (1 + 1e-6) + slop
        rate = 2 / (k + 1) + 4 * np.log(k + 1) / (k * (k + 1))
        assert known.g.value(x) - known.g_star <= Lg * D**2 * rate + slop


@every_problem
@pytest.mark.parametrize("gamma", [1.0, 100.0])
def test_pb_apg_penalty_bound(number: int, gamma: float) -> None:
    """f - f* + gamma (g - g*) <= 2 (L_f + gamma L_g) ||x_0 - x*||^2 / (k+1)^2."""
    known = convex_instances()[number]
    problem = known.problem
    x0 = problem.domain.lmo(np.zeros(problem.dim))
    R2, slop = float(np.sum((x0 - known.x_star) ** 2)), rounding(known)
    L = problem.upper.smoothness + gamma * problem.lower.smoothness
    if L == 0:  # both linear: any L, here that of a step across Z
        L = np.linalg.norm(problem.upper.grad(x0) + gamma * problem.lower.grad(x0)) / problem.domain.diameter
    for k, x, _ in run(known, PBAPG(gamma=gamma, variant="fista")):
        gap = known.f.value(x) - known.f_star + gamma * (known.g.value(x) - known.g_star)
        assert gap <= 2 * L * R2 / (k + 1) ** 2 + slop * (1 + gamma)


@pytest.mark.parametrize("method", [IRCG, AGMBiO, PBAPG, APBAPG, BiSG, FBiPG, RAPM, BiFISTA, StaBiM, AdaBiM])
@pytest.mark.parametrize("units", [(1e8, 1.0), (1e-8, 1e8), (1.0, 1e-8)])
def test_units_do_not_matter(method, units: tuple[float, float]) -> None:
    """Multiples of f and of g change no iterate: every default is made of ratios."""
    d = Data(1)
    scaled = tb.Problem(units[0] * d.upper, units[1] * d.lower, d.problem.domain)
    pairs = zip(*(tb.iterate(problem, method(), x0=d.x0) for problem in (d.problem, scaled)), strict=False)
    for one, other in islice(pairs, 25):
        np.testing.assert_allclose(one.x, other.x, atol=1e-6)


@every_method
def test_a_domain_of_one_point_and_constant_levels(method) -> None:
    point = tb.Problem(tb.SquaredNorm([1.0, 2.0]), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box([0.5, 1.0], [0.5, 1.0]))
    constant = tb.Problem(tb.Linear([0.0, 0.0]), tb.Linear([0.0, 0.0]), tb.L2Ball(1.0))
    for problem in (point, constant):
        result = tb.solve(problem, method(), max_iter=30)
        assert result.success and problem.domain.contains(result.x)
        states = list(islice(tb.iterate(problem, method()), 12))
        assert all(np.isfinite(state.x).all() for state in states)


# -- bisections ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_minimax_step_against_a_conic_solver(seed: int) -> None:
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    y, a, c = rng.standard_normal((3, 5))
    f, g, L = *rng.standard_normal(2), 1.5
    problem = tb.Problem(tb.Linear(a), tb.Linear(c), tb.L1Ball(1.0))
    x, w = minimax_step(problem, Model(y, f, g, a, c), L)
    p = cp.Variable(5)
    larger = cp.maximum(f + a @ (p - y), g + c @ (p - y))
    best = cp.Problem(cp.Minimize(larger + L / 2 * cp.sum_squares(p - y)), [cp.norm1(p) <= 1])
    best.solve(**TIGHT)
    np.testing.assert_allclose(x, p.value, atol=1e-6)
    assert 0 <= w <= 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["ball", "halfspace"])
def test_projection_onto_a_sublevel_set_against_a_conic_solver(kind: str, seed: int) -> None:
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    v, a = rng.standard_normal((2, 5))
    upper = 3 * tb.SquaredNorm(a) if kind == "ball" else tb.Linear(a)
    problem = tb.Problem(upper, tb.Linear(a), tb.L1Ball(1.0))
    least = problem.domain.project(a) if kind == "ball" else problem.domain.lmo(a)
    threshold = 0.7 * upper.value(least) + 0.3 * upper.value(problem.domain.project(v))
    x = project_sublevel(problem, v, threshold)
    p = cp.Variable(5)
    below = cp.norm(p - a) <= np.sqrt(threshold / 1.5) if kind == "ball" else a @ p <= threshold
    distance = cp.Problem(cp.Minimize(cp.norm(p - v)), [below, cp.norm1(p) <= 1]).solve(**TIGHT)
    assert upper.value(x) <= threshold + 1e-9 and problem.domain.contains(x)
    assert np.linalg.norm(x - v) == pytest.approx(distance, abs=1e-8)


def bisections() -> Iterator[tuple[type, int]]:
    for number, known in enumerate(convex_instances()):
        yield FCBiO, number
        if isinstance(known.problem.upper, tb.SquaredNorm | tb.Linear):
            yield BisecBiO, number


@pytest.mark.parametrize("method", [FCBiO, BisecBiO])
def test_bisection_keeps_what_it_promises(method) -> None:
    """low <= f* always; once the search has ended, the point is optimal to the tolerances."""
    ended = 0
    for number in (number for one, number in bisections() if one is method):
        known, slop = convex_instances()[number], rounding(convex_instances()[number])
        if isinstance(known.problem.domain, tb.Polyhedron | tb.Birkhoff):
            continue
        for state in islice(tb.iterate(known.problem, method(), tol_upper=0.05, tol_lower=0.05), 150):
            # a point with g <= level may be below f* where the level is above g*: compare with what f can be there
            if state.level <= known.g_star + slop:
                assert state.low <= known.f_star + slop
            if state.shrink < 1:
                ended += 1
                assert known.f.value(state.best) - known.f_star <= 0.05 + slop
                assert known.g.value(state.best) - known.g_star <= 0.05 + slop
                break
    assert ended >= 3


@pytest.mark.parametrize("method", [FCBiO, BisecBiO, AGMBiO])
def test_slack_is_used(method) -> None:
    """The least norm with (x1 + x2 - 1)^2 / 2 <= 1/32, that is, x1 + x2 = 3/4."""
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0), slack=1 / 32)
    result = tb.solve(problem, method(), tol_upper=1e-3, tol_lower=1e-3)
    assert result.success
    assert result.f == pytest.approx(9 / 64, abs=4e-3)


def test_bisection_refuses_an_upper_level_without_a_simple_sublevel_set() -> None:
    with pytest.raises(ValueError, match="fc-bio"):
        tb.solve(Data(0).problem, BisecBiO())


# -- both gaps shrink ---------------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("number", range(4))
def test_reduces_both_gaps(method, number: int) -> None:
    known = tb.testing.known_problems()[number]
    gaps = []
    for state in islice(tb.iterate(known.problem, method()), 400):
        x = method().solution(state)
        gaps.append((abs(known.problem.upper.value(x) - known.f_star), known.problem.lower.value(x) - known.g_star))
    first, last = np.array(gaps[0]), np.array(gaps[-1])
    assert (last <= np.maximum(0.3 * first, 0.05)).all(), (first, last)


# -- wrong input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: IRCG(p=1.5), "p must be in"),
        (lambda: IRCG(sigma_0=-1.0), "sigma_0"),
        (lambda: BiSG(exponent=0.3), "exponent"),
        (lambda: FBiPG(gamma=3.0), "gamma"),
        (lambda: FBiPG(a=1.0), "a must be"),
        (lambda: BiFISTA(delta=2.5), "delta"),
        (lambda: BiFISTA(alpha=2.0), "alpha"),
        (lambda: RAPM(eta=0.0), "eta"),
        (lambda: PBAPG(gamma=-2.0), "gamma"),
        (lambda: PBAPG(variant="fast"), "variant"),
        (lambda: APBAPG(growth=1.0), "growth"),
        (lambda: FCBiO(tol_upper=-1.0), "tol_upper"),
        (lambda: BisecBiO(tol_lower=0.0), "tol_lower"),
        (lambda: SBCGI(slack=0.0), "slack"),
        (lambda: SBCGF(batch=0), "batch"),
        (lambda: SBCGF(seed=-1), "seed"),
    ],
)
def test_wrong_parameters_are_named(make, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        make()


@pytest.mark.parametrize("method", [AGMBiO, PBAPG, RAPM, BiSG, StaBiM])
def test_unknown_smoothness_is_refused_and_adabim_does_without(method) -> None:
    f = tb.Function(lambda x: float(x @ x), lambda x: 2 * x, dim=2, convex=True)
    problem = tb.Problem(f, tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    with pytest.raises(ValueError, match="smoothness of the upper level"):
        tb.solve(problem, method())
    assert tb.solve(problem, AdaBiM(), tol_upper=1e-2, tol_lower=1e-2).success


def test_a_method_outside_its_theory_says_so_once(caplog) -> None:
    rng = np.random.default_rng(0)
    f = tb.SquaredCovariance(rng.standard_normal((20, 3)), rng.integers(0, 2, 20))
    problem = tb.Problem(f, tb.LeastSquares([[1.0, 1.0, 0.0]], [1.0]), tb.L1Ball(2.0), slack=0.1)
    tb.solve(problem, StaBiM(), max_iter=5)
    assert [("convex" in text, "slack" in text) for text in caplog.messages] == [(True, False), (False, True)]
