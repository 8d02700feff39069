"""Norms in either level: the methods whose theory takes them reach the answer, all others refuse, no bound is wrong."""

from __future__ import annotations

import logging
from itertools import islice

import numpy as np
import pytest
from composite_problems import KNOWN, Known, groups_over_lasso, smooth_over_lasso, sparse_interpolation

import tiebreak as tb
from tiebreak.methods import SOLVERS

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

# What the papers cover: proximal steps on g + sigma f (or on both levels), or on g alone with a smooth f.
BOTH = ["tseng", "a-irg", "tikhonov", "cabot", "pb-apg", "apb-apg"]
BOTH += ["bi-sg", "fbi-pg", "r-apm", "bi-fista", "stabim", "adabim"]
LOWER = ["big-sam", "ibig-sam", "hsdm", "sam"]
SUBGRADIENTS = ["bi-cs", "fc-bio"]  # at rates that show nothing in a few updates: held to their bounds elsewhere
# Updates, and then |f(x) - f*| and g(x) - g*. The slow ones: k^-1/4, and Fista on a nearly unregularised problem.
REACHED = {"a-irg": (1000, 0.5, 0.06), "r-apm": (1000, 0.15, 1e-8), "cabot": (200, 0.1, 2e-3)}
USUAL = (600, 0.03, 2e-3)


def known(name: str) -> Known:
    make, where = KNOWN[name]
    return make(where)


@pytest.mark.parametrize("name", KNOWN)
def test_references_agree(name: str) -> None:
    """The relaxed value is below f*, by no more than its slack of 1e-8 is worth (a multiplier of 1e4 at most)."""
    case = known(name)
    assert -4e-4 <= case.f_relaxed - case.f_star <= 1e-7


def methods_for(name: str) -> list[str]:
    return BOTH + (LOWER if name.startswith("smooth over") else [])


@pytest.mark.parametrize(("name", "method"), [(name, method) for name in KNOWN for method in methods_for(name)])
def test_reaches_both_values(name: str, method: str) -> None:
    case = known(name)
    updates, upper, lower = REACHED.get(method, USUAL)
    solver = SOLVERS[method]()
    *_, last = islice(tb.iterate(case.problem, solver), updates + 1)
    x = solver.solution(last)
    f, g = case.problem.upper.value(x), case.problem.lower.value(x)
    assert case.problem.domain.contains(x, 1e-9)
    assert abs(f - case.f_star) <= upper and g - case.g_star <= lower


@pytest.mark.parametrize("name", KNOWN)
def test_every_bound_at_every_iterate_is_true(name: str) -> None:
    case = known(name)
    noise = 1e-9  # of Clarabel
    seen = 0

    def look(event: tb.Event) -> None:
        nonlocal seen
        seen += 1
        c = event.certificate
        assert c.g_lower <= case.g_star + 1e-12 and case.g_star <= c.g_upper + 1e-12
        assert c.f_lower <= case.f_star + noise and case.f_star <= c.f_upper + noise
        assert c.lower_gap >= event.g - case.g_star - 1e-12

    for method in methods_for(name):
        result = tb.solve(case.problem, method, callback=tb.Every(1, look), max_iter=8, tol_upper=1e-9, tol_lower=1e-9)
        assert result.verify(case.problem).ok, (method, result.verify(case.problem).complaints)
    assert seen >= 8 * len(methods_for(name))


@pytest.mark.parametrize("name", KNOWN)
def test_auto_proves_what_it_finds(name: str) -> None:
    case = known(name)
    result = tb.solve(case.problem, tol_upper=2e-3, tol_lower=2e-3)
    assert result.success and result.method == ("apb-apg" if name == "groups over lasso, l2 ball" else "exact")
    assert result.certificate.f_lower <= case.f_star + 1e-9 and result.verify(case.problem).ok
    if result.method == "exact":
        assert result.f == pytest.approx(case.f_star, abs=1e-9) and result.g == pytest.approx(case.g_star, abs=1e-12)
        assert result.certificate.f_lower <= case.f_star + 1e-9 and case.f_star <= result.certificate.f_upper + 1e-9
    else:
        assert "GroupNorm" in result.message  # why it is not exact


def test_proofs_are_made_where_a_stage_ends() -> None:
    """Inside a stage of apb-apg the bounds are loose; the loop looks at its end, whenever the next look is due."""
    problem = smooth_over_lasso("l2 ball").problem
    ends = [state.k for state in islice(tb.iterate(problem, "apb-apg"), 500) if state.settled]
    result = tb.solve(problem, "apb-apg", max_iter=500, tol_upper=1e-12, tol_lower=1e-12)
    trace = result.trace.to_dict()
    assert len(ends) >= 2 and set(ends) <= set(trace["k"])
    assert all(f - low <= 1e-3 for k, f, low in zip(trace["k"], trace["f"], trace["f_lower"], strict=True) if k in ends)


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("level", ["upper", "lower"])
def test_all_other_methods_refuse_at_once_and_name_those_that_can(method: str, level: str) -> None:
    parts = {"upper": tb.SquaredNorm(), "lower": tb.LeastSquares(np.ones((1, 4)), [1.0])}
    parts[level] = parts[level] + tb.L1Norm(0.1)
    problem = tb.Problem(**parts, domain=tb.L1Ball(2.0))
    can = {*BOTH, *SUBGRADIENTS, "exact", *(LOWER if level == "lower" else [])}
    if method in can:
        assert np.isfinite(tb.solve(problem, method, max_iter=2).f)
        return
    with pytest.raises(ValueError, match=f"a differentiable {level} level .L1Norm is not differentiable.") as refusal:
        tb.solve(problem, method)
    assert repr(method) in str(refusal.value)
    named = str(refusal.value).split("can do without: ")[1].split(", ")
    assert set(named) == can
    with pytest.raises(ValueError, match="is not differentiable"):
        tb.iterate(problem, method)


def test_a_set_without_a_joint_prox_leaves_the_methods_that_need_none() -> None:
    ball = tb.NuclearBall((2, 2), 1.0)
    problem = tb.Problem(tb.L1Norm(), tb.LeastSquares(np.eye(4)[:2], [0.1, 0.2]), ball)
    with pytest.raises(ValueError, match="a prox of the norms together with the domain") as refusal:
        tb.solve(problem, "apb-apg")
    assert str(refusal.value).endswith("can do without: exact, a-irg, fc-bio, bi-sg, bi-cs")
    exact = tb.solve(problem)
    assert exact.method == "exact" and exact.f == pytest.approx(0.3, abs=1e-9)
    blind = tb.FromOracles(lmo=ball.lmo, project=ball.project, contains=ball.contains, diameter=ball.diameter, dim=4)
    problem = tb.Problem(problem.upper, problem.lower, blind)
    with pytest.raises(ValueError, match=r"does not apply: L1Norm over"):
        tb.solve(problem, "exact")
    result = tb.solve(problem, max_iter=200)
    assert result.method == "bi-sg" and "first that takes the norms" in result.message
    assert result.certificate.f_lower <= 0.3 + 1e-12 <= result.f + 0.05 and result.g < 1e-6  # f* = 0.3


def test_norms_without_any_method() -> None:
    """A norm that is in both levels needs its prox over the set, or subgradients and a projection."""
    blind = tb.FromOracles(lmo=tb.L2Ball(1.0).lmo, contains=lambda x, tol: True, diameter=2.0, dim=2)
    problem = tb.Problem(tb.SquaredNorm() + tb.L1Norm(), tb.SquaredNorm([1.0, 1.0]), blind)
    with pytest.raises(ValueError, match=r"no method takes this problem.*not differentiable"):
        tb.solve(problem)
    unknown = tb.Function(lambda x: float(x @ x), lambda x: 2 * x, convex=True)  # no smoothness
    composite = tb.Problem(unknown + tb.L1Norm(), tb.SquaredNorm([1.0, 1.0]), tb.L2Ball(1.0))
    assert tb.solve(composite, max_iter=5).method == "apb-apg"
    with pytest.raises(ValueError, match="smoothness of the upper level"):
        tb.solve(composite, "pb-apg")


def test_a_nonconvex_upper_level_with_a_norm_is_refused_with_the_names() -> None:
    rng = np.random.default_rng(0)
    fair = tb.SquaredCovariance(rng.standard_normal((5, 3)), rng.standard_normal(5))
    unknown = tb.Function(lambda x: (x - 1) @ (x - 1) / 2, lambda x: x - 1, dim=3, convex=True, smoothness=1.0)
    problem = tb.Problem(fair + tb.L1Norm(), unknown, tb.L1Ball(1.0))
    with pytest.raises(ValueError, match="'cg-bio-anytime' needs a differentiable upper level"):
        tb.solve(problem)


def test_a_nonconvex_upper_level_with_a_norm_over_one_solution() -> None:
    """The projection of (1, 1, 1), whatever the upper level."""
    rng = np.random.default_rng(0)
    fair = tb.SquaredCovariance(rng.standard_normal((5, 3)), rng.standard_normal(5))
    result = tb.solve(tb.Problem(fair + tb.L1Norm(), tb.SquaredNorm(np.ones(3)), tb.L1Ball(1.0)))
    assert result.success and result.certificate.stationarity <= 1e-9
    np.testing.assert_allclose(result.x, np.full(3, 1 / 3), rtol=1e-9)


def test_slack_with_norms_but_without_an_exact_method_is_said(caplog: pytest.LogCaptureFixture) -> None:
    problem = groups_over_lasso("l2 ball").problem.with_slack(0.1)
    with caplog.at_level(logging.WARNING, "tiebreak"):
        result = tb.solve(problem, max_iter=50)
    assert result.method == "apb-apg" and "slack" in caplog.text


# -- iterates against twins ------------------------------------------------------------------------------------------


def soft(v: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    return np.sign(v) * np.maximum(np.abs(v) - t, 0)


A = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 1.0]])
B, TAU, W, CENTER = np.array([3.0, -1.0]), 0.2, np.array([0.5, 0.0, 1.0]), np.array([0.3, -0.7, 2.0])
TWINNED = tb.Problem(
    tb.SquaredNorm(CENTER) + tb.L1Norm(W), tb.LeastSquares(A, B) + TAU * tb.L1Norm(), tb.Box(-0.6, 1.1)
)
L_G = tb.LeastSquares(A, B).smoothness


def f1(x: np.ndarray) -> np.ndarray:
    return x - CENTER


def g1(x: np.ndarray) -> np.ndarray:
    return A.T @ (A @ x - B)


def boxed(v: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    return np.clip(soft(v, t), -0.6, 1.1)


def twin_of_stabim(x: np.ndarray):
    sigma = 1.0
    for k in range(1, 60):
        sigma = min(max(1 / k, 0.75 * sigma), sigma)
        s = sigma * L_G
        step = 0.99 / (L_G + s)
        x = boxed(x - step * (g1(x) + s * f1(x)), step * (TAU + s * W))
        yield x


def twin_of_r_apm(x: np.ndarray):
    y, t, eta = x, 1.0, 1e-5 * L_G
    step = 1 / (L_G + eta)
    for _ in range(60):
        new = boxed(y - step * (g1(y) + eta * f1(y)), step * (TAU + eta * W))
        t_new = 0.5 + np.sqrt(0.25 + t * t)
        y, x, t = new + (t - 1) / t_new * (new - x), new, t_new
        yield x


def twin_of_bi_sg(x: np.ndarray):
    ahead = x
    for k in range(60):
        x = boxed(ahead - g1(ahead) / L_G, TAU / L_G)
        eta = (k + 1) ** -0.95
        ahead = soft(x - eta * f1(x), eta * W)
        yield x


def twin_of_tseng(x: np.ndarray):
    mean, sigma = x, 1 / L_G
    tau = 0.99 / (sigma * L_G)
    for k in range(1, 60):
        w = ((k - 1) * mean + x) / k
        v = x - tau * sigma * k * g1(w)
        x = boxed((v + tau * CENTER) / (1 + tau), tau / (1 + tau) * (W + sigma * k * TAU))
        mean = ((k - 1) * mean + x) / k
        yield x


def twin_of_a_irg(x: np.ndarray):
    eta0 = 0.1 * L_G
    for k in range(60):
        eta = eta0 / (k + 1) ** 0.25
        slope = g1(x) + TAU * np.sign(x) + eta * (f1(x) + W * np.sign(x))
        x = np.clip(x - 1 / (L_G + eta0) / np.sqrt(k + 1) * slope, -0.6, 1.1)
        yield x


@pytest.mark.parametrize(
    ("method", "twin"),
    [
        ("stabim", twin_of_stabim),
        ("r-apm", twin_of_r_apm),
        ("bi-sg", twin_of_bi_sg),
        ("tseng", twin_of_tseng),
        ("a-irg", twin_of_a_irg),
    ],
)
def test_iterates_are_those_of_the_pseudo_code(method: str, twin) -> None:
    x0 = np.array([1.0, -0.5, 0.4])
    states = islice(tb.iterate(TWINNED, method, x0=x0), 1, None)
    for state, x in zip(states, twin(x0), strict=False):
        assert np.abs(state.x - x).max() <= 1e-12


@pytest.mark.parametrize("method", ["big-sam", "hsdm"])
def test_methods_of_averages_take_the_prox_of_the_lower_level(method: str) -> None:
    problem = tb.Problem(tb.SquaredNorm(CENTER), TWINNED.lower, TWINNED.domain)
    first, second, *_ = islice(tb.iterate(problem, method, x0=np.array([1.0, -0.5, 0.4])), 3)
    assert np.abs(second.y - boxed(first.x - g1(first.x) / L_G, TAU / L_G)).max() <= 1e-14


def test_calls_of_the_smooth_part_are_counted() -> None:
    case = sparse_interpolation("l1 ball")
    result = tb.solve(case.problem, "r-apm", max_iter=20, tol_upper=1e-12, tol_lower=1e-12)
    assert result.calls["lower.grad"] >= 20 and result.calls["upper.grad"] >= 20
    assert result.calls["domain.project"] == 20


def test_a_run_does_not_depend_on_units() -> None:
    """1000 times f, 7 times g and 0.001 times x: the same iterates in the new units."""
    big = tb.Problem(
        1e3 * tb.L1Norm(1e3 * W) + 1e3 * tb.LeastSquares(1e3 * np.eye(3), CENTER),
        7 * (tb.LeastSquares(1e3 * A, B) + TAU * tb.L1Norm(1e3)),
        tb.Box(-0.6e-3, 1.1e-3),
    )
    x0 = np.array([1.0, -0.5, 0.4])
    for method in ("apb-apg", "stabim", "fbi-pg", "adabim", "cabot"):
        pair = [tb.iterate(TWINNED, method, x0=x0), tb.iterate(big, method, x0=1e-3 * x0)]
        for one, other in islice(zip(*pair, strict=True), 40):
            assert np.abs(one.x - 1e3 * other.x).max() <= 1e-7, method
