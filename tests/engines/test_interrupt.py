"""An exact solve that is cut short says so, in time, and keeps what it has proved."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb
import tiebreak.engines.rows.chain as chain_module
import tiebreak.engines.rows.quadratic_level as quadratic_module
from tiebreak.engines.interrupt import OutOfTime, check, kept, limited, remaining
from tiebreak.engines.rows.face import Face
from tiebreak.engines.rows.linear_level import SOUND, FaceProgram
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.methods.exact import Planned
from tiebreak.numerics.extended import ext
from tiebreak.numerics.highs import Model

TRIANGLE = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))
TIED = tb.Problem(tb.SquaredNorm(dim=2), tb.Linear([1.0, 1.0]), TRIANGLE)  # g* = 1 on a segment, f* = 1/4 in its middle


def test_limits_nest_and_end():
    assert remaining() == np.inf
    check()
    with limited(100.0):
        with limited(1e6):
            assert 99 < remaining() <= 100
        with limited(0.0):
            assert remaining() == 0
            with pytest.raises(OutOfTime):
                check()
        check()
    assert remaining() == np.inf


@pytest.mark.parametrize(("stop", "status"), [(OutOfTime, "MAX_TIME"), (KeyboardInterrupt, "INTERRUPTED")])
def test_the_lower_level_survives(monkeypatch, stop, status):
    def interrupted(*_):
        raise stop

    monkeypatch.setattr(chain_module, "solve_quadratic", interrupted)
    result = tb.solve(TIED, "exact", on_interrupt="return")
    c = result.certificate
    assert result.status is tb.Status[status]
    assert not result.success
    assert "lower solution" in result.message
    assert c.g_lower <= 1 <= c.g_upper
    assert c.g_upper - c.g_lower < 1e-12
    assert result.g == pytest.approx(1, abs=1e-12)
    assert c.f_lower == 0  # of a squared norm, without any work
    assert c.f_upper == np.inf
    assert c.lower_unique is None


@pytest.mark.parametrize("stop", [OutOfTime, KeyboardInterrupt])
def test_without_a_lower_level_nothing_is_claimed(monkeypatch, stop):
    def interrupted(*_, **__):
        raise stop

    monkeypatch.setattr(FaceProgram, "minimise", interrupted)
    result = tb.solve(TIED, "exact", on_interrupt="return")
    assert result.status in (tb.Status.MAX_TIME, tb.Status.INTERRUPTED)
    assert "last complete state" in result.message
    assert (result.certificate.g_lower, result.certificate.f_upper) == (-np.inf, np.inf)
    assert TRIANGLE.contains(result.x, 1e-12)


def test_a_slow_solver_is_not_followed_by_another(monkeypatch):
    """The first takes all the time and gives nothing: the bracket is that of the point where the level starts."""
    asked = []

    def slow(qp):
        asked.append(time.sleep(0.6))

    monkeypatch.setattr(quadratic_module, "portfolio", lambda qp: [slow, slow])
    result = tb.solve(TIED, "exact", max_time=0.5, tol_upper=1e-9)
    assert result.status in (tb.Status.MAX_TIME, tb.Status.CONVERGED)  # the polish may find it from there
    assert len(asked) == 1
    c = result.certificate
    assert c.g_lower <= 1 <= c.g_upper
    assert c.f_lower <= 0.25 <= c.f_upper


def test_linear_programmes_get_what_is_left():
    """HiGHS counts the time of all its runs: a second one must get its own share."""
    n = 60
    cost = np.random.default_rng(0).uniform(size=n * n)
    rows = np.vstack([np.kron(np.eye(n), np.ones((1, n))), np.kron(np.ones((1, n)), np.eye(n))])
    face, _ = Face.of(tb.Polyhedron(A_eq=rows, b_eq=np.ones(2 * n), bounds=(0, 1)))
    programme = FaceProgram(face.given, face.scale)
    with limited(0.0), pytest.raises(OutOfTime):
        programme.minimise(ext(cost))
    model = Model(rows, np.ones(2 * n), np.ones(2 * n), np.zeros(n * n), np.ones(n * n))
    model.set_cost(cost)
    assert model.run(0.0).out_of_time
    assert model.run(60.0).optimal
    with limited(60.0):
        assert programme.minimise(ext(cost)).excess <= SOUND


@pytest.mark.parametrize("solves", [1, 3, 4])
def test_a_relaxed_solve_keeps_a_feasible_point(solves):
    problem = tb.Problem(
        tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-np.ones(2), np.ones(2)), slack=0.005
    )
    choice = tb.plan(problem).choice

    def limited_to(task):
        minimise, count = choice.engine.minimiser(task), []

        def some(objective):
            count.append(0)
            if len(count) > solves:
                raise OutOfTime
            return minimise(objective)

        return some

    slow = Planned(replace(choice, engine=replace(choice.engine, minimiser=limited_to)))
    result = tb.solve(problem, slow, tol_upper=1e-9, tol_lower=1e-9)
    assert result.g <= problem.slack + 1e-12  # g* = 0
    assert result.certificate.f_lower <= 0.2025 <= result.certificate.f_upper  # (1 - 0.1)^2 / 4


def test_chains_pass_an_interruption_on():
    levels = [tb.Linear([1.0, 1.0]), tb.SquaredNorm()]
    with limited(0.0), pytest.raises(OutOfTime) as stop:
        solve_rows(levels, TRIANGLE)
    assert kept(stop.value) is None


@pytest.mark.parametrize("stop", [OutOfTime, KeyboardInterrupt])
def test_a_chain_keeps_the_levels_that_are_done(monkeypatch, stop):
    def interrupted(*_):
        raise stop

    monkeypatch.setattr(chain_module, "solve_quadratic", interrupted)
    levels = [tb.Linear([1.0, 1.0]), tb.SquaredNorm(dim=2), tb.Linear([1.0, 0.0])]
    chain = tb.lexicographic(levels, TRIANGLE, on_interrupt="return")
    assert not chain.success and chain.status in ("interrupted", "max_time")
    assert "stopped after 1 of 3 levels" in repr(chain)
    assert chain.levels[0].lower <= 1 <= chain.levels[0].upper < 1 + 1e-12
    assert (chain.levels[1].lower, chain.levels[1].upper) == (0, np.inf)
    assert (chain.levels[2].lower, chain.levels[2].upper) == (-np.inf, np.inf)
    assert chain.x.sum() == pytest.approx(1, abs=1e-12)


def test_a_chain_is_interrupted_with_what_it_has(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(chain_module, "solve_quadratic", interrupted)
    levels = [tb.Linear([1.0, 1.0]), tb.SquaredNorm(dim=2)]
    with pytest.raises(KeyboardInterrupt) as pressed:
        tb.lexicographic(levels, TRIANGLE)
    assert pressed.value.result.levels[0].gap < 1e-12


@pytest.mark.parametrize("levels", [[tb.Linear([1.0, 1.0]), tb.SquaredNorm()], [tb.Linear([1.0, 1.0])] * 3])
def test_chains_respect_their_limit(levels):
    chain = tb.lexicographic(levels, TRIANGLE, max_time=1e-9)
    assert not chain.success and "limit of 1e-09 s" in chain.message
    assert len(chain.levels) == len(levels)
    with pytest.raises(ValueError, match="max_time"):
        tb.lexicographic(levels, TRIANGLE, max_time=-1.0)
