"""What the theorems promise, at every iterate, with g* and f* known independently of the library."""

from __future__ import annotations

from functools import cache
from itertools import islice, pairwise

import numpy as np
import pytest

import tiebreak as tb
from known import classics
from known.soundness import frank_wolfe_gap, sweep
from known.terms import linear
from problems import Instance, instance
from tiebreak.lab.comparison.rate_problems import spread_lower, spread_upper
from tiebreak.lab.experiments.corner import corner
from tiebreak.lab.experiments.toy import problem as toy_problem
from tiebreak.lab.reproduce.initial import LowerLevel
from tiebreak.states import states_of

ITERATES = 120


@cache
def convex_instances() -> list[Instance]:
    """Twenty bilevel problems (no slack) with a convex upper level, of many kinds."""
    found = (known for *_, known in sweep(60, 5, []))
    return list(islice((k for k in found if k.problem.upper.convex and k.problem.slack == 0), 20))


every = pytest.mark.parametrize("number", range(20))


def curvatures(known: Instance) -> tuple[float, float]:
    """L_f D^2 and L_g D^2."""
    problem = known.problem
    return tuple(part.smoothness * problem.domain.diameter**2 for part in (problem.upper, problem.lower))


def tolerance(known: Instance) -> float:
    """An eps_g that the initial phase reaches soon."""
    return curvatures(known)[1] / 50 + 1e-3


def run(known: Instance, solver: tb.Solver, **tolerances: float) -> list[tb.State]:
    """The iterates after the initial phase, if there is one."""
    states = islice(tb.iterate(known.problem, solver, **tolerances), 20_000)
    return list(islice((state for state in states if state.point is not None), ITERATES))


def values(known: Instance, state: tb.State) -> tuple[float, float]:
    """f - f* and g - g*, less what the references leave open."""
    gap_f, gap_g = known.f.value(state.x) - known.f_star, known.g.value(state.x) - known.g_star
    rounding = 1e-10 * (1 + abs(known.g_star))  # of the points: a linear g leaves no other room
    return gap_f - known.f_tol, gap_g - known.g_tol - rounding


def test_there_are_twenty_problems_of_many_kinds():
    assert len(convex_instances()) == 20
    assert len({known.note.split(",")[0] for known in convex_instances()}) >= 8


@every
@pytest.mark.parametrize("method", [tb.CGBiO, tb.AnytimeCGBiO])
def test_lemma_1(number, method):
    """Every cut keeps all solutions of the lower level: the corners of X_g* in random directions, and x*."""
    known = convex_instances()[number]
    rng = np.random.default_rng(0)
    slopes = rng.normal(size=(3, known.x_star.size))
    corners = [known.solutions.minimise(linear(slope)[0], accuracy=1e-6).x for slope in slopes]
    corners += [known.x_star, known.solutions.centre]
    states = run(known, method(), tol_upper=1e-9, tol_lower=tolerance(known))
    for state, later in pairwise(states):
        g, grad = known.g.value(state.x), known.g.grad(state.x)
        assert later.level >= known.g_star - known.g_tol
        for vertex in corners:
            rounding = 1e-12 * (1 + abs(g) + float(np.abs(grad) @ (np.abs(vertex) + np.abs(state.x))))
            assert grad @ (vertex - state.x) <= later.level - g + rounding


@every
@pytest.mark.parametrize("step", [None, tb.steps.Adaptive()], ids=["harmonic", "adaptive"])
def test_theorem_1(number, step):
    """f(x_K) - f* <= 2 L_f D^2 / (K + 1) and g(x_K) - g* <= 2 L_g D^2 / (K + 1) + eps_g / 2."""
    known = convex_instances()[number]
    upper, lower = curvatures(known)
    eps_g = tolerance(known)
    states = run(known, tb.CGBiO(step=step), tol_upper=1e-9, tol_lower=eps_g)
    for state in states:
        assert state.level - known.g_star <= eps_g / 2 + known.g_tol  # the level is g(x_0)
        K = state.k - state.first
        gap_f, gap_g = values(known, state)
        assert gap_f <= 2 * upper / (K + 1)
        assert gap_g <= 2 * lower / (K + 1) + eps_g / 2


@every
@pytest.mark.parametrize("step", [None, tb.steps.Adaptive()], ids=["harmonic", "adaptive"])
def test_anytime_rates(number, step):
    """f(x_K) - f* <= 2 L_f D^2 / (K + 1) and g(x_K) - g* <= 6 L_g D^2 / (K + 1), from any start."""
    known = convex_instances()[number]
    upper, lower = curvatures(known)
    for state in run(known, tb.AnytimeCGBiO(step=step))[1:]:
        gap_f, gap_g = values(known, state)
        assert gap_f <= 2 * upper / (state.k + 1)
        assert gap_g <= 6 * lower / (state.k + 1)


def on_parallelotope(seed: int, T: np.ndarray) -> tuple[tb.Problem, np.ndarray, tuple[float, float], float, float]:
    """Two quadratic levels over the image of a box under T: problem, a near-optimal start, both curvature constants.

    Those of a quadratic are the largest (v - w)'H(v - w) of vertices v, w. Beside them f* and g*, the same for all T.
    """
    rng = np.random.default_rng(seed)
    A, B, b, x = rng.standard_normal((5, 4)), rng.standard_normal((2, 4)), rng.standard_normal(5), rng.uniform(-1, 1, 4)
    back = np.linalg.inv(T)
    domain = tb.Polyhedron(A_ub=np.vstack([back, -back]), b_ub=np.ones(8))
    problem = tb.Problem(tb.LeastSquares(A @ back, b), tb.LeastSquares(B @ back, B @ x), domain)
    ways = np.array(np.meshgrid(*[[-2.0, 0.0, 2.0]] * 4)).reshape(4, -1)  # differences of vertices of the box
    constants = tuple(float(((M @ ways) ** 2).sum(axis=0).max()) for M in (A, B))
    plain = tb.solve(tb.Problem(tb.LeastSquares(A, b), tb.LeastSquares(B, B @ x), tb.Box(-1.0, 1.0)), "exact")
    return problem, 0.95 * T @ x, constants, plain.f, 0.0  # at x itself grad g is rounding


@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1_is_affinely_invariant_and_so_are_its_bounds_by_curvature(seed):
    """The same iterates in other variables; L D^2 is another number there, the curvature constants are not."""
    turn = np.linalg.qr(np.random.default_rng(seed + 9).standard_normal((4, 4)))[0]
    T = turn * [0.02, 0.5, 3.0, 40.0]
    plain, x0, constants, f_star, g_star = on_parallelotope(seed, np.eye(4))
    other, y0, same, _, _ = on_parallelotope(seed, T)
    assert same == constants
    lengths = [np.sqrt((T**2).sum()) * 2, 4.0]  # diameters, at least: L D^2 is no invariant
    assert other.upper.smoothness * lengths[0] ** 2 > 100 * plain.upper.smoothness * lengths[1] ** 2
    solver = tb.CGBiO(step=tb.steps.Harmonic(2, 2), tol_upper=1e-12, tol_lower=1e-6)
    pairs = zip(tb.iterate(plain, solver, x0=x0), tb.iterate(other, solver, x0=y0), strict=False)
    for one, twin in islice(pairs, 150):
        np.testing.assert_allclose(np.linalg.solve(T, twin.x), one.x, atol=1e-6)
        f, g, K = other.upper.value(twin.x) - f_star, other.lower.value(twin.x) - g_star, twin.k
        assert f <= 2 * constants[0] / (K + 1) + 1e-9
        assert g <= 2 * constants[1] / (K + 1) + other.lower.value(y0) + 1e-9


def test_the_step_of_theorem_2_by_curvature_constants():
    problem, _, (C_f, C_g), _, _ = on_parallelotope(0, np.diag([0.02, 0.5, 3.0, 40.0]))
    step = tb.steps.theorem_2(problem, 0.1, 0.2, curvature=(C_f, C_g))
    assert step.c == min(0.1 / C_f, 0.2 / C_g, 1.0)
    assert step.c > 20 * tb.steps.theorem_2(problem, 0.1, 0.2).c
    assert tb.steps.theorem_2(problem, 0.1, 0.2, curvature=(0.0, 0.0)).c == 1.0
    for wrong, error in (((1.0,), TypeError), (3.0, TypeError), ((-1.0, 1.0), ValueError), ((1.0, "a"), TypeError)):
        with pytest.raises(error, match="curvature"):
            tb.steps.theorem_2(problem, 0.1, 0.2, curvature=wrong)


@pytest.mark.parametrize("seed", range(4))
def test_theorem_2(seed):
    """Nonconvex f, constant step: one of K iterates is stationary over X_g* and lower-level optimal."""
    known = instance(seed, "box", "least-squares-face", "covariance")
    problem, (upper, lower) = known.problem, curvatures(known)
    eps_f, eps_g = upper / 100, lower / 100
    solver = tb.CGBiO(step=tb.steps.theorem_2(problem, eps_f, eps_g), tol_upper=1e-12)
    states = iter(tb.iterate(problem, solver, tol_lower=eps_g))  # a tiny tol_upper: no early stop
    start = next(state for state in states if state.point is not None)
    drop = 1 / 16  # f is the square of a covariance of numbers in [0, 1], so 0 <= f <= 1/16
    K = int(np.ceil(max(2 * upper * drop / eps_f**2, 2 * lower * drop / (eps_f * eps_g))))
    state = start
    for state in islice(states, K):
        assert known.g.value(state.x) - known.g_star <= eps_g + known.g_tol  # holds for all of them
    assert state.best_gap <= eps_f
    assert frank_wolfe_gap(known, state.best_x)[0] <= state.best_gap + 1e-9
    assert known.g.value(state.best_x) - known.g_star <= eps_g + known.g_tol


ORDERS = pytest.mark.parametrize("r", [1, 2, 3, 4])


@ORDERS
@pytest.mark.parametrize("convex", [True, False])
def test_proposition_1(r, convex):
    """At arbitrary points f(x) - f* (or the gap) is never below what growth allows, and comes near it."""
    one = corner(5, r, convex)
    rng = np.random.default_rng(r)
    points = rng.uniform(one.low, 1.0, (300, 3))
    points[::2, 1:] = one.p[1:]  # above the best point of the slice f falls the most
    eps = (r * np.array([one.problem.lower.value(x) for x in points])) ** (1 / r)
    if convex:
        below = one.f_star - np.array([one.problem.upper.value(x) for x in points])
        allowed = one.steepest * eps
    else:
        below = -np.array([one.gap(x) for x in points])
        allowed = one.steepest * eps + eps**2
    assert (below <= allowed + 1e-12).all()
    assert np.max(below / allowed) > 0.7  # a bound of 0.7 times as much would be wrong


@ORDERS
@pytest.mark.parametrize("seed", range(2))
def test_an_error_bound_gives_an_upper_bound_on_f_star(seed, r):
    """What Proposition 1 makes of the iterates of Algorithm 1 in the certificate."""
    known = classics.holder(seed, r)
    seen = []
    result = tb.solve(
        known.problem,
        "cg-bio",
        tol_upper=1e-6,
        tol_lower=1e-3,
        max_iter=60,
        callback=tb.Every(5, lambda event: seen.append(event.certificate)),
    )
    assert seen
    for certificate in seen:
        assert certificate.f_lower <= known.f_star + 1e-12
        assert certificate.f_upper >= known.f_star - 1e-12
    assert np.isfinite(result.certificate.f_upper)


@pytest.mark.parametrize(("r", "q"), [(1, 50), (2, 5), (3, 2.2), (4, 1.6)])
def test_corollary_1(r, q):
    """Algorithm 1, eps_f = M/q: both gaps are within the tolerances from K on, and were not at first."""
    one = corner(1, r)
    eps_f = one.steepest / q
    eps_g = (eps_f / one.steepest) ** r / r
    C_f, C_g = one.curvatures
    K = int(np.ceil(max(2 * C_f / eps_f, 4 * C_g / eps_g)))
    solver = tb.CGBiO(tol_upper=-np.inf)  # no test of its own: 2/(k+2) for ever
    good = []
    for state in islice(tb.iterate(one.problem, solver, x0=one.start(eps_g)), K + 20):
        f, g = one.problem.upper.value(state.x) - one.f_star, one.problem.lower.value(state.x)
        good.append(abs(f) <= eps_f + 1e-12 and g <= eps_g + 1e-12)
    assert all(good[K:])
    assert not all(good[:3])  # the condition is not one that every point meets


@pytest.mark.parametrize("r", [1, 2])
def test_theorem_2_and_corollary_1_are_met_late(r):
    """Nonconvex f: the gap is above eps_f at first, and within K updates one iterate is below; two-sided as well."""
    one = corner(2, r, convex=False)
    C_f, C_g = one.curvatures
    for two_sided, eps_f in ((False, 0.03), (True, 0.1 if r == 1 else 0.3)):
        M = one.steepest
        eps_g = min((eps_f / (2 * M)) ** r, (eps_f / 2) ** (r / 2)) / r if two_sided else eps_f
        step = tb.steps.theorem_2(one.problem, eps_f, eps_g)
        K = max(2 * C_f * one.drop / eps_f**2, 2 * C_g * one.drop / (eps_f * eps_g))
        found = None
        solver = tb.CGBiO(step=step, tol_upper=-np.inf)
        for k, state in enumerate(islice(tb.iterate(one.problem, solver, x0=one.start(eps_g)), int(K))):
            gap, g = one.gap(state.x), one.problem.lower.value(state.x)
            assert g <= eps_g + 1e-12
            if (abs(gap) if two_sided else gap) <= eps_f:
                found = k
                break
        assert found is not None and 2 <= found < K


@pytest.mark.parametrize("c", [0.05, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("r", [2, 3])
def test_steps_of_inverse_square_roots(r, c):
    """f not convex, steps c/sqrt(k+1): both rates of docs/anytime.md, at every iterate."""
    one = corner(4, r, convex=False)
    C_f, C_g = one.curvatures
    eps_g = 1e-3
    start, factor = one.start(eps_g), max(c, (1 + c**2) ** 0.5 / 2)
    solver = tb.CGBiO(step=tb.steps.InverseSqrt(c), tol_upper=-np.inf)
    least, seen = np.inf, []
    for K, state in enumerate(islice(tb.iterate(one.problem, solver, x0=start), 300)):
        g = one.problem.lower.value(state.x)
        assert g <= factor * C_g / (K + 1) ** 0.5 + eps_g / 2
        if K:
            drop = one.problem.upper.value(start) - one.f_least
            assert least <= (drop + 0.5 * c**2 * C_f * (1 + np.log(K))) / (2 * c * ((K + 1) ** 0.5 - 1))
        least = min(least, one.gap(state.x))
        seen.append(g)
    if c > 0.1:
        assert max(seen) > eps_g  # the iterates leave the lower solutions, and have to come back


def test_theorem_1_is_tight_up_to_a_constant():
    """On a face of the simplex no method that adds a vertex an update does better than 1/(2 (k+1)) - 1/(2 n)."""
    p = spread_upper(300)
    C_f = p.L_f * 2.0
    gaps = []
    for state in islice(tb.iterate(p.problem, tb.CGBiO(tol_upper=-np.inf), x0=p.x0), 1, 150):
        gaps.append(p.problem.upper.value(state.x) - p.f_star)
        assert 0.5 / (state.k + 1) - 0.5 / 300 - 1e-12 <= gaps[-1] <= 2 * C_f / (state.k + 1)
        assert np.count_nonzero(state.x) <= state.k + 1
    assert gaps[-1] < 0.1 * gaps[0]


def test_complexity_of_algorithm_1():
    """(eps_f, eps_g)-optimal from K = max(2 L_f D^2/eps_f, 4 L_g D^2/eps_g) on; on a simplex not long before."""
    p = spread_upper(300)
    eps = 0.05
    K = int(np.ceil(2 * p.L_f * 2.0 / eps))
    gaps = [
        p.problem.upper.value(state.x) - p.f_star
        for state in islice(tb.iterate(p.problem, tb.CGBiO(tol_upper=-np.inf), x0=p.x0), K + 20)
    ]
    assert max(gaps[K:]) <= eps
    assert max(gaps[K // 16 :]) > eps  # a sixteenth of K is not enough


def test_the_initial_phase_is_of_the_order_of_one_over_eps():
    """Gaps with steps 2/(k+2) are within 27/4 L D^2/(k+2) (Jaggi 2013), and no faster than 1/k here."""
    p = spread_lower(1000)
    steps = []
    for eps in (0.2, 0.05, 0.0125):
        *_, last = states_of(p.problem, LowerLevel("harmonic", eps), p.x0)
        steps.append(last.k)
    for eps, needed in zip((0.2, 0.05, 0.0125), steps, strict=True):
        assert needed <= 6.75 * p.L_g * 2.0 / eps
    assert 3 < steps[1] / steps[0] < 5 and 3 < steps[2] / steps[1] < 5  # four times as many for a quarter


def test_slater_fails_and_the_multiplier_grows():
    """No point has g < g*; relaxed by eps, the multiplier is (1 - s)/(2 s) with s = sqrt(2 eps), for a quadratic g."""
    problem = tb.Problem(tb.SquaredNorm(dim=2), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(0.0, 1.0))
    proof = tb.solve(problem, "exact").certificate
    assert proof.g_lower >= proof.g_upper - 1e-12
    for eps in (1e-2, 1e-4, 1e-6, 1e-8):
        s = np.sqrt(2 * eps)
        found = tb.solve(problem.with_slack(eps), "exact").certificate.multiplier
        assert found == pytest.approx((1 - s) / (2 * s), rel=1e-5)


def test_regularisation_is_exact_below_one_over_the_multiplier():
    """The toy, whose relaxed multiplier is 0.1: g + sigma f has its solution for sigma < 10, and not for more."""
    toy = toy_problem()
    for sigma, same in ((20.0, False), (11.0, False), (9.0, True), (0.01, True)):
        whole = tb.Problem(tb.Linear(np.zeros(2)), toy.lower + sigma * toy.upper, toy.domain)
        x = tb.solve(whole, "exact", tol_lower=1e-12).x
        assert bool(np.abs(x - [0.6, 0.4]).max() < 1e-6) is same


@pytest.mark.parametrize("K", [5, 20])
def test_no_false_upper_bound_on_the_hard_pair(K):
    """As long as the two problems look alike, nothing may be claimed for one that is false for the other."""
    runs = []
    for known in classics.hard_pair(K):
        seen = []
        tb.solve(
            known.problem,
            "cg-bio-anytime",
            x0=np.zeros(2 * K),
            tol_upper=1e-12,
            tol_lower=1e-12,
            max_iter=K // 2 - 1,
            callback=tb.Every(1, lambda event, seen=seen: seen.append((event.x, event.certificate))),
        )
        for _, certificate in seen:
            assert certificate.f_upper == np.inf
            assert certificate.f_lower <= known.f_star + 1e-12
        runs.append(seen)
    for (x_long, long), (x_short, short) in zip(*runs, strict=True):
        np.testing.assert_allclose(x_long, x_short, rtol=0, atol=1e-12)
        assert long.f_lower == pytest.approx(short.f_lower, abs=1e-12)
