"""The loop: how runs start, stop, are watched, interrupted and resumed."""

from __future__ import annotations

import io
import itertools
import logging
import sys
import time

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.experiments import toy


@pytest.fixture
def problem() -> tb.Problem:
    """The least-norm point with x1 + ... + x4 = 1; f* = 1/8, g* = 0."""
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(np.ones((1, 4)), [1.0]), tb.L1Ball(2.0))


def test_converged_means_that_both_tolerances_hold(problem: tb.Problem) -> None:
    result = tb.solve(problem, tol_upper=1e-3, tol_lower=1e-3)
    assert result.success and result.status is tb.Status.CONVERGED
    assert result.f - 0.125 <= 1e-3
    assert result.g <= 1e-3
    assert result.certificate.f_lower <= 0.125
    assert result.certificate.upper_gap == result.f - result.certificate.f_lower


def test_each_limit_has_its_status(problem: tb.Problem) -> None:
    assert tb.solve(problem, "cg-bio-anytime", max_iter=7, tol_upper=1e-12).status is tb.Status.MAX_ITER
    assert tb.solve(problem, "cg-bio-anytime", max_iter=7, tol_upper=1e-12).nit == 7
    slow = tb.Problem(
        tb.SquaredNorm(),
        tb.Function(
            lambda x: (time.sleep(0.01), 0.5 * (x.sum() - 1) ** 2)[1],
            lambda x: (x.sum() - 1) * np.ones_like(x),
            dim=4,
            convex=True,
        ),
        tb.L1Ball(2.0),
    )
    result = tb.solve(slow, "cg-bio-anytime", tol_upper=1e-12, max_time=0.3)
    assert result.status is tb.Status.MAX_TIME and not result.success
    assert result.time < 3.0
    assert tb.solve(problem, "cg-bio-anytime", tol_upper=1e-2, tol_lower=1e-2, max_time=None).success


def test_a_callback_sees_the_first_iterates_and_can_stop(problem: tb.Problem) -> None:
    seen = []

    def stop_at_five(event: tb.Event) -> bool:
        seen.append((event.k, event.nit, event.f, event.g, event.fun, event.time, event.certificate.f_lower))
        return event.k == 5

    result = tb.solve(problem, "cg-bio-anytime", callback=stop_at_five, tol_upper=1e-12)
    assert [row[0] for row in seen] == [0, 1, 2, 3, 4, 5]
    assert result.status is tb.Status.STOPPED and not result.success and result.nit == 5

    def stop(intermediate_result: tb.Event) -> None:
        if intermediate_result.k == 3:
            raise StopIteration

    assert tb.solve(problem, "cg-bio-anytime", callback=stop, tol_upper=1e-12).nit == 3


def looked_at(last: int) -> list[int]:
    """The updates where bounds are computed: each of the first ones, then whenever k has grown by a tenth."""
    ks = [0]
    while ks[-1] < last:
        ks.append(min(max(ks[-1] + 1, int(1.1 * ks[-1])), last))
    return ks


@pytest.mark.parametrize("method", ["cg-bio", "stabim", "exact"])
def test_a_callback_is_called_where_bounds_are_computed_and_at_the_end(problem: tb.Problem, method: str) -> None:
    seen: list[int] = []
    options = {"max_iter": 205, "tol_upper": 1e-300, "tol_lower": 1e-300}
    result = tb.solve(problem, method, callback=lambda event: seen.append(event.k), **options)
    assert seen == looked_at(result.nit) if method != "exact" else seen[0] == 0
    assert seen[-1] == result.nit
    ks = result.trace.to_dict()["k"]
    assert set(ks) <= set(seen) and len(ks) >= len(seen) - 1


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_a_callback_may_ask_for_every_nth_update(problem: tb.Problem, every: int) -> None:
    options = {"max_iter": 205, "tol_upper": 1e-12, "tol_lower": 1e-12}
    seen, own = [], []

    class Mine:
        """A class of a user's: the attribute is enough."""

        def __init__(self) -> None:
            self.every = every

        def __call__(self, intermediate_result: tb.Event) -> None:
            own.append(intermediate_result.k)

    often = tb.solve(
        problem, "cg-bio", callback=[tb.Every(every, lambda event: seen.append(event.k)), Mine()], **options
    )
    assert seen == own == list(range(0, 206, every))
    np.testing.assert_allclose(often.x, tb.solve(problem, "cg-bio", **options).x, atol=1e-10)
    stopped = tb.solve(problem, "cg-bio", callback=tb.Every(every, lambda event: event.k > 0), **options)
    assert stopped.nit == min(every, 205)


def test_watching_changes_nothing(problem: tb.Problem, capfd: pytest.CaptureFixture[str]) -> None:
    """Nobody who does not ask for every update keeps several from being made at once: to the last bit the same run."""
    options = {"max_iter": 700, "tol_upper": 1e-12, "tol_lower": 1e-12}
    alone = tb.solve(problem, "cg-bio", **options)
    for how in ({"verbose": True}, {"callback": lambda event: None}, {"callback": tb.Trace(every=50)}):
        watched = tb.solve(problem, "cg-bio", **options, **how)
        assert watched.x.tobytes() == alone.x.tobytes() and watched.certificate == alone.certificate
        assert watched.calls == alone.calls


def test_every_refuses_what_is_no_count_or_no_function() -> None:
    with pytest.raises(ValueError, match="every must be a whole number"):
        tb.Every(0, print)
    with pytest.raises(TypeError, match="callback must be a function"):
        tb.Every(1, 3)  # type: ignore[arg-type]


def test_only_true_stops(problem: tb.Problem) -> None:
    """A callback that returns something else, such as a list's append or a count, does not stop the run."""
    assert tb.solve(problem, "cg-bio-anytime", callback=lambda event: 1, max_iter=4, tol_upper=1e-12).nit == 4


def test_ctrl_c_returns_the_last_complete_state(problem: tb.Problem) -> None:
    def press(event: tb.Event) -> None:
        if event.k == 6:
            raise KeyboardInterrupt

    result = tb.solve(problem, "cg-bio-anytime", callback=press, tol_upper=1e-12, on_interrupt="return")
    assert result.status is tb.Status.INTERRUPTED and result.nit == 6
    assert result.verify(problem).ok


def test_ctrl_c_goes_on_in_a_script_and_takes_the_result_along(problem: tb.Problem) -> None:
    """A loop over solves must stop; at a prompt, the result is what one wants to see."""
    pressed_at = []

    def press(event: tb.Event) -> None:
        if event.k == 6:
            pressed_at.append(event.k)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as pressed:
        [tb.solve(problem, "cg-bio-anytime", callback=press, tol_upper=1e-12) for _ in range(3)]
    assert pressed_at == [6]  # no second solve
    result = pressed.value.result  # type: ignore[attr-defined]
    assert result.status is tb.Status.INTERRUPTED and result.nit == 6
    with pytest.raises(KeyboardInterrupt):
        tb.tradeoff(problem, [0.1, 0.2], "cg-bio-anytime", callback=press)


def test_ctrl_c_returns_at_a_prompt(problem: tb.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(event: tb.Event) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert tb.solve(problem, "cg-bio-anytime", callback=press).status is tb.Status.INTERRUPTED
    with pytest.raises(KeyboardInterrupt):
        tb.solve(problem, "cg-bio-anytime", callback=press, on_interrupt="raise")
    with pytest.raises(KeyboardInterrupt):  # the curve is not finished: no further point is begun
        tb.tradeoff(problem, [0.1, 0.2], "cg-bio-anytime", callback=press)
    with pytest.raises(ValueError, match="on_interrupt"):
        tb.solve(problem, on_interrupt="stop")  # type: ignore[arg-type]


@pytest.mark.parametrize("level", ["upper", "lower"])
@pytest.mark.parametrize("oracle", ["value", "grad"])
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_nonfinite_names_the_oracle(level: str, oracle: str, poison: float) -> None:
    calls = {"value": 0, "grad": 0}

    def spoiled(kind: str, output: float | np.ndarray) -> float | np.ndarray:
        calls[kind] += 1
        return np.full_like(output, poison) if kind == oracle and calls[kind] > 40 else output

    function = tb.Function(
        lambda x: spoiled("value", 0.5 * x @ x + 1.0), lambda x: spoiled("grad", 1.0 * x), dim=3, convex=True
    )
    parts = {"upper": tb.SquaredNorm([1.0, 1.0, 0.0]), "lower": tb.LeastSquares(np.ones((1, 3)), [1.0])}
    result = tb.solve(
        tb.Problem(**{**parts, level: function}, domain=tb.L1Ball(2.0)), "cg-bio-anytime", tol_upper=1e-14
    )
    assert result.status is tb.Status.NONFINITE and not result.success
    assert f"{level}." in result.message
    assert np.isfinite(result.x).all()


def test_stalled_when_nothing_changes_any_more() -> None:
    """One vertex is optimal for both levels and rounding keeps the gaps above an absurd tolerance."""
    problem = tb.Problem(tb.SquaredNorm([3.0, 0.1]), tb.LeastSquares([[1.0, 0.3]], [np.pi]), tb.Simplex())
    result = tb.solve(problem, "cg-bio-anytime", tol_upper=1e-300, tol_lower=1e-300)
    assert result.status is tb.Status.STALLED and result.nit < 1000
    np.testing.assert_allclose(result.x, [1.0, 0.0])


def test_silent_by_default_and_one_line_when_verbose(
    problem: tb.Problem, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="tiebreak"):
        tb.solve(problem, tol_upper=1e-2, tol_lower=1e-2)
    said = [record for record in caplog.records if "compil" not in record.msg]  # that is announced, once
    assert capfd.readouterr() == ("", "") and not said
    tb.solve(problem, "cg-bio-anytime", tol_upper=1e-2, tol_lower=1e-2, verbose=True)
    out, err = capfd.readouterr()
    assert out == "" and "upper gap" in err and err.endswith("\n")


def test_progress_uses_rich_on_a_terminal(problem: tb.Problem) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    progress = tb.Progress(stream=screen, seconds=0.0)
    tb.solve(problem, "cg-bio-anytime", max_iter=20, tol_upper=1e-12, callback=progress)
    progress.close()
    assert screen.getvalue()


def test_trace_records_every_nth_iterate(problem: tb.Problem, tmp_path) -> None:
    trace = tb.Trace(every=5)
    result = tb.solve(problem, "cg-bio-anytime", max_iter=20, tol_upper=1e-12, callback=[trace, lambda event: None])
    assert result.trace is trace
    table = trace.to_dict()
    assert table["k"] == [0, 5, 10, 15, 20]
    assert all(low <= 0.125 for low in table["f_lower"])
    assert table["upper_gap"][-1] == result.f - table["f_lower"][-1]
    trace.to_csv(tmp_path / "trace.csv")
    lines = (tmp_path / "trace.csv").read_text().splitlines()
    assert len(lines) == 6 and lines[0].startswith("k,time,f,g")
    frame = trace.to_pandas()
    assert list(frame["k"]) == table["k"] and list(frame["f"]) == table["f"]


def test_there_is_a_trace_without_asking(problem: tb.Problem) -> None:
    result = tb.solve(problem, "cg-bio-anytime", max_iter=50, tol_upper=1e-12)
    k = result.trace.to_dict()["k"]
    assert k[0] == 0 and k == sorted(k) and len(k) > 5


def test_calls_are_counted(problem: tb.Problem) -> None:
    result = tb.solve(problem, "cg-bio-anytime", max_iter=10, tol_upper=1e-12)
    assert result.calls["upper.grad"] == 10 and result.calls["domain.lmo_cut"] == 10
    assert result.calls["bounds.domain.lmo"] > 0


def test_x0_may_be_an_array_a_list_a_result_or_a_state(problem: tb.Problem) -> None:
    first = tb.solve(problem, "cg-bio-anytime", x0=[0.5, 0.0, 0.0, 0.0], max_iter=10, tol_upper=1e-12)
    again = tb.solve(problem, "cg-bio-anytime", x0=first, max_iter=1, tol_upper=1e-12)
    assert again.nit == 1
    start = next(iter(tb.iterate(problem, "cg-bio-anytime", x0=first)))
    assert start.k == 0 and np.array_equal(start.x, first.x)
    on = tb.solve(problem, "cg-bio-anytime", x0=first.state, max_iter=25, tol_upper=1e-12)
    whole = tb.solve(problem, "cg-bio-anytime", x0=[0.5, 0.0, 0.0, 0.0], max_iter=25, tol_upper=1e-12)
    assert on.nit == whole.nit == 25 and np.array_equal(on.x, whole.x)


def test_x0_is_not_changed(problem: tb.Problem) -> None:
    x0 = np.array([0.5, 0.0, 0.0, 0.0])
    tb.solve(problem, "cg-bio-anytime", x0=x0, max_iter=10)
    assert np.array_equal(x0, [0.5, 0.0, 0.0, 0.0])


def test_x0_outside_is_projected_with_a_warning(problem: tb.Problem) -> None:
    with pytest.warns(UserWarning, match="outside the domain"):
        result = tb.solve(problem, "cg-bio-anytime", x0=[5.0, 0.0, 0.0, 0.0], max_iter=3)
    assert problem.domain.contains(result.x)


def test_iterate_yields_k_zero_first_and_then_one_update_each(problem: tb.Problem) -> None:
    states = [state for _, state in zip(range(5), tb.iterate(problem, "cg-bio-anytime"), strict=False)]
    assert [state.k for state in states] == [0, 1, 2, 3, 4]


def test_same_seed_same_iterates(problem: tb.Problem) -> None:
    runs = [tb.solve(problem, "auto", max_iter=30, seed=5, tol_upper=1e-12) for _ in range(2)]
    assert np.array_equal(runs[0].x, runs[1].x) and runs[0].seed == 5


def test_super_optimal_is_said() -> None:
    problem = toy.problem()
    result = tb.solve(problem, tb.CG(), x0=[0.25, 0.0], max_iter=50)
    assert result.certificate.super_optimal and result.certificate.upper_gap < 0
    assert "below f*" in result.message and "below f*" in repr(result)
    assert not result.success


def test_product_domain_gives_blocks() -> None:
    domain = tb.Product({"a": (tb.L1Ball(1.0), (2,)), "b": tb.Box(np.zeros(3), np.ones(3))})
    problem = tb.Problem(tb.SquaredNorm(dim=5), tb.LeastSquares(np.ones((1, 5)), [1.0]), domain)
    result = tb.solve(problem, "cg-bio-anytime", tol_upper=1e-2, tol_lower=1e-2)
    assert result.blocks is not None and result.blocks["a"].shape == (2,) and result.blocks["b"].shape == (3,)
    np.testing.assert_array_equal(domain.join(result.blocks), result.x)


def test_sparse_operator_and_dense_data_give_the_same_iterates() -> None:
    import scipy.sparse as sp
    from scipy.sparse.linalg import aslinearoperator

    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((6, 15)), rng.standard_normal((4, 15))
    runs = []
    for kind in (np.asarray, sp.csr_array, sp.csc_array, aslinearoperator):
        problem = tb.Problem(tb.LeastSquares(kind(B), np.ones(4)), tb.LeastSquares(kind(A), np.ones(6)), tb.L1Ball(1.0))
        runs.append([s.x for _, s in zip(range(80), tb.iterate(problem, "cg-bio-anytime"), strict=False)])
    for other in runs[1:]:
        np.testing.assert_allclose(runs[0], other, atol=1e-12)


def test_a_pause_is_no_stall():
    """bi-sg stays at one point from k = 2 to 62, until its step on the norm is small enough to leave it again."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 20))
    b = A @ np.r_[np.ones(5), np.zeros(15)]
    problem = tb.Problem(tb.GroupNorm(np.repeat(range(4), 5)), tb.LeastSquares(A, b), tb.Box(-5, 5))
    states = list(itertools.islice(tb.iterate(problem, "bi-sg"), 70))
    assert np.array_equal(states[2].x, states[40].x) and not np.array_equal(states[2].x, states[69].x)
    assert tb.solve(problem, "bi-sg", max_iter=300).status is tb.Status.MAX_ITER
