"""The public names, their parameters and what they mean, as they are promised: what other code may call."""

from __future__ import annotations

import inspect
from math import sqrt

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.cli import main
from tiebreak.lab.experiments.dictionary import problem_from

OBJECTIVES = {
    "LeastSquares": "A, b, scale=1.0, weights=None",
    "Quadratic": "Q, q, c=0.0",
    "Linear": "c",
    "SquaredNorm": "center=None, dim=None, weights=None",
    "Logistic": "A, y, weights=None",
    "Poisson": "A, y, weights=None",
    "Softmax": "A, y",
    "SquaredHinge": "A, y",
    "Huber": "A, b, delta, weights=None",
    "SquaredCovariance": "A, v",
    "L1Norm": "weights=None",
    "MaxAffine": "A, b",
    "GroupNorm": "groups",
    "Reconstruction": "data, atoms",
    "Function": "value, grad, dim=None, convex=False, smoothness=None, value_and_grad=None, hvp=None",
}
SETS = {
    "L1Ball": "radius, weights=None",
    "L2Ball": "radius, center=None",
    "LpBall": "p, radius",
    "Box": "lower, upper",
    "Simplex": "total=1.0",
    "KSparse": "k, radius",
    "GroupBall": "groups, radius",
    "NuclearBall": "shape, radius",
    "Spectrahedron": "n, trace=1.0",
    "Birkhoff": "n",
    "Polyhedron": "A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=None, names=None",
    "Product": "blocks",
    "Columns": "each, shape",
    "Cone": "A, b, cones, names=None",
    "FromOracles": "lmo=None, project=None",
}
METHODS = [
    "auto", "exact", "cg-bio", "cg-bio-anytime", "cg", "mng", "big-sam", "ibig-sam", "tseng", "a-irg", "dbgd",
    "apdb", "tikhonov", "solodov", "cabot", "hsdm", "sam", "ir-cg", "agm-bio", "pb-apg", "apb-apg", "fc-bio",
    "bisec-bio", "bi-sg", "fbi-pg", "r-apm", "bi-fista", "stabim", "adabim", "sbcgi", "sbcgf",
    "ir-scg", "ir-fscg", "bi-cs",
]  # fmt: skip

A = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
PROBLEM = tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares(A, [1.0, 2.0]), domain=tb.L1Ball(3.0), slack=0.0)


@pytest.mark.parametrize(("name", "wanted"), [*OBJECTIVES.items(), *SETS.items()])
def test_parameters_come_in_this_order(name: str, wanted: str) -> None:
    given = list(inspect.signature(getattr(tb, name)).parameters.values())
    for parameter, text in zip(given, wanted.split(", "), strict=False):
        want, _, default = text.partition("=")
        assert parameter.name == want
        if default:
            assert str(parameter.default) == default
    assert len(given) >= len(wanted.split(", "))


def test_what_an_objective_has() -> None:
    x = np.ones(3)
    for f in (PROBLEM.lower, PROBLEM.upper, tb.L1Norm(A=A, b=[1.0, 2.0]), tb.MaxAffine(A, [0.0, 1.0])):
        value, grad = f.value_and_grad(x)
        assert f.value(x) == value and np.array_equal(f.grad(x), grad)
        assert f.convex is True and f.dim in (3, None) and f.form is not None
        assert f.smoothness is None or f.smoothness > 0
    both = PROBLEM.lower / 2 + 3 * PROBLEM.upper - tb.Linear(x)
    assert both.value(x) == pytest.approx(PROBLEM.lower.value(x) / 2 + 3 * 1.5 - 3)


def test_what_objectives_mean() -> None:
    x, w = np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.0])
    r = A @ x - [1.0, 2.0]
    assert tb.LeastSquares(A, [1.0, 2.0], 3.0, w).value(x) == pytest.approx(1.5 * np.sum(w * r * r))
    assert tb.SquaredNorm(weights=[1.0, 0.0, 2.0]).value(x) == pytest.approx(0.5 * (1 + 2 * 0.25))
    assert tb.L1Norm(A=A, b=[1.0, 2.0]).value(x) == pytest.approx(np.abs(r).sum())
    assert tb.MaxAffine(A, [1.0, 2.0]).value(x) == pytest.approx(r.max())
    assert tb.Quadratic(np.eye(3), x, 1.0).value(x) == pytest.approx(1.5 * (x @ x) + 1)
    assert (-tb.Linear(x)).value(x) == -(x @ x)


def test_what_a_set_has() -> None:
    Z = tb.Box(-np.ones(2), np.ones(2))
    cut = Z.lmo_cut(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.5)
    assert {"point", "multiplier", "gap", "status"} <= set(cut._fields if hasattr(cut, "_fields") else vars(cut))
    assert Z.lmo(np.ones(2)).tolist() == [-1.0, -1.0] and Z.project(3 * np.ones(2)).tolist() == [1.0, 1.0]
    assert Z.contains(np.zeros(2), 1e-9) and Z.diameter == pytest.approx(sqrt(8)) and Z.dim == 2
    assert Z.rows is not None and tb.L1Ball(1.0).with_dim(2).axes is not None


def test_what_a_problem_has() -> None:
    problem = tb.Problem(
        PROBLEM.upper, [tb.Linear(np.ones(3)), PROBLEM.lower], PROBLEM.domain, [0, 1e-3], names=["a", "b", "c"]
    )
    assert len(problem.levels) == 3 and problem.slack == 1e-3 and problem.names == ("a", "b", "c")
    assert problem.with_slack(0.5).slack == 0.5 and "LeastSquares" in repr(problem)
    share = tb.Problem(PROBLEM.upper, tb.LeastSquares(A, [1.0, 9.0]), PROBLEM.domain, relative_slack=0.01)
    result = tb.solve(share)
    assert result.success and result.g <= 1.01 * result.certificate.g_upper + 1e-9
    named = tb.Polyhedron(A_eq=[[1.0, 1.0]], b_eq=[1.0], bounds=(0, 1), names=["wind", "sun"])
    assert tb.solve(tb.Problem(tb.SquaredNorm(), tb.Linear([0.0, 0.0]), named)).named == pytest.approx(
        {"wind": 0.5, "sun": 0.5}
    )
    for bad in ("ab", ["x", "x"], ["x"]):
        with pytest.raises((ValueError, TypeError), match="names"):
            tb.Polyhedron(A_eq=[[1.0, 1.0]], b_eq=[1.0], bounds=(0, 1), names=bad)
    for broken in (np.nan, np.inf):
        with pytest.raises(ValueError):
            tb.LeastSquares([[broken]], [1.0])


def test_what_solve_takes_and_returns(tmp_path) -> None:
    defaults = {name: one.default for name, one in inspect.signature(tb.solve).parameters.items()}
    promised = {
        "method": "auto", "x0": None, "tol_upper": 1e-4, "tol_lower": 1e-4, "max_iter": None, "max_time": 60.0,
        "callback": None, "seed": None, "verbose": False,
    }  # fmt: skip
    assert promised.items() <= defaults.items()
    result = tb.solve(PROBLEM)
    fields = "x f g success status message notes method nit time calls certificate levels trace seed fun blocks named"
    for name in fields.split():
        getattr(result, name)
    assert result.fun == result.f and result.verify(PROBLEM).ok
    result.save(tmp_path / "r.npz")
    assert np.array_equal(tb.Result.load(tmp_path / "r.npz").x, result.x)
    assert [(level.value, level.lower <= level.upper) for level in result.levels] == [
        (result.g, True),
        (result.f, True),
    ]
    for level in result.levels:
        assert f"{level.lower:.10g}" in repr(result)
    again = tb.solve(PROBLEM, tb.CGBiO(step=tb.steps.Harmonic(2, 12)), x0=result, max_iter=3)
    assert again.method == "cg-bio"


def test_what_a_certificate_has() -> None:
    c = tb.solve(PROBLEM).certificate
    assert c.g_lower <= c.g_upper and c.f_lower <= c.f_upper and c.two_sided and c.well_posed
    assert c.lower_gap >= 0 and c.upper_gap == pytest.approx(tb.solve(PROBLEM).f - c.f_lower)
    assert c.stationarity is None and c.multiplier >= 0 and c.assumes == ()
    assert c.lower_unique in (True, False, None) and c.upper_constant in (True, None)


def test_statuses() -> None:
    promised = ["CONVERGED", "MAX_ITER", "MAX_TIME", "STOPPED", "INTERRUPTED", "STALLED", "NONFINITE"]
    assert set(promised) <= {one.name for one in tb.Status}
    assert tb.solve(PROBLEM, "cg-bio-anytime", max_iter=2).status is tb.Status.MAX_ITER
    assert tb.solve(PROBLEM, "cg-bio-anytime", callback=lambda event: True).status is tb.Status.STOPPED
    assert not tb.solve(PROBLEM, "cg-bio-anytime", max_iter=2).success


def test_method_names() -> None:
    names = {one.name for one in tb.methods()} | {"auto"}
    assert set(METHODS) <= names


def test_step_rules() -> None:
    assert tb.steps.Harmonic(2, 12)(3) == 2 / 15 and tb.steps.InverseSqrt(0.3)(8) == 0.3 / 3
    assert tb.steps.Constant(0.1)(7) == 0.1 and tb.steps.Adaptive() is not None
    states = list(zip(range(3), tb.iterate(PROBLEM, "big-sam"), strict=False))
    assert [state.k for _, state in states] == [0, 1, 2] and states[0][1].x.shape == (3,)


def test_the_other_verbs() -> None:
    chain = tb.lexicographic(
        [PROBLEM.lower, tb.Linear(np.ones(3)), PROBLEM.upper], tb.Box(-2, 2), slack=[0, 0], max_time=60
    )
    assert chain.success and len(chain.levels) == 3
    plan = tb.plan(PROBLEM)
    assert plan.method == "exact" and plan.because
    curve = tb.tradeoff(PROBLEM, slacks=[1e-4, 1e-2])
    assert len(curve.results) == 2 and (curve.f_lower <= curve.f_upper).all()
    assert list(inspect.signature(tb.prepare).parameters) == ["problem", "tol_upper", "tol_lower"]
    answer = tb.prepare(PROBLEM).solve(b=[[1.0, 2.0], None], x0=np.zeros(3))
    assert isinstance(answer, tb.PreparedAnswer) and np.array_equal(answer.x, answer.result.x) and answer.steps >= 0
    assert callable(tb.register)
    for check in ("check_objective", "check_set", "check_solver"):
        assert callable(getattr(tb.testing, check))
    assert list(inspect.signature(problem_from).parameters) == ["A_old", "X_hat", "A_new", "delta", "n_atoms"]


@pytest.mark.parametrize("command", ["run", "solve", "reproduce", "methods", "bench"])
def test_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0 and command in capsys.readouterr().out
