"""The column engine returns to Python in time, takes a Ctrl-C at safe points only, and refuses what would overflow."""

from __future__ import annotations

import subprocess
import sys
from types import FrameType

import numpy as np
import pytest

import tiebreak as tb
import tiebreak.engines.columns.generation as generation
import tiebreak.engines.columns.master as master_module
from tiebreak.engines.interrupt import OutOfTime
from tiebreak.kernels import HAS_NUMBA, allow_all


def instance(seed: int, domain: tb.Domain, n: int = 12, d: int = 30) -> tb.Problem:
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((n, d)), rng.standard_normal((8, d))
    return tb.Problem(tb.LeastSquares(B, rng.standard_normal(8)), tb.LeastSquares(A, rng.standard_normal(n)), domain)


SETS = [tb.L1Ball(0.5), tb.L1Ball(20.0), tb.Simplex(), tb.KSparse(3, 0.2)]


@pytest.mark.parametrize("domain", SETS, ids=str)
def test_pauses_change_nothing(domain, monkeypatch):
    """After any number of multiplications the loops may return, and go on where they were."""
    problem = instance(1, domain)
    expected = tb.solve(problem, "exact", tol_upper=1e-9, tol_lower=1e-9)
    looks = []
    monkeypatch.setattr(generation, "check", lambda: looks.append(1))
    monkeypatch.setattr(generation, "FIRST_WORK", 1)
    monkeypatch.setattr(generation, "MOST_WORK", 1)
    result = tb.solve(problem, "exact", tol_upper=1e-9, tol_lower=1e-9)
    assert result.success == expected.success
    assert result.f == pytest.approx(expected.f, rel=1e-10)
    assert len(looks) > 4


def test_time_is_asked_for_between_pauses(monkeypatch):
    looks = []

    def check():
        looks.append(1)
        if len(looks) == 5:
            raise OutOfTime

    monkeypatch.setattr(generation, "check", check)
    monkeypatch.setattr(generation, "FIRST_WORK", 1)
    monkeypatch.setattr(generation, "MOST_WORK", 1)
    result = tb.solve(instance(2, tb.L1Ball(20.0)), "exact")
    assert result.status is tb.Status.MAX_TIME


def test_time_is_asked_for_between_newton_steps(monkeypatch):
    def check():
        raise OutOfTime

    monkeypatch.setattr(master_module, "check", check)
    rng = np.random.default_rng(3)
    g = tb.Logistic(rng.standard_normal((20, 6)), np.arange(20) % 2)
    result = tb.solve(tb.Problem(tb.SquaredNorm(), g, tb.L1Ball(2.0)), "exact")
    assert result.status is tb.Status.MAX_TIME


@pytest.mark.skipif(not HAS_NUMBA, reason="needs numba")
def test_no_python_code_runs_while_compiled_code_returns():
    """Arrays and named tuples are made by Python code, where a Ctrl-C is a segmentation fault: there are to be none."""
    rng = np.random.default_rng(4)
    A, y = rng.standard_normal((20, 6)), np.arange(20) % 2
    problems = [instance(5, domain) for domain in SETS]
    problems.append(tb.Problem(tb.SquaredNorm(), tb.Logistic(A, y), tb.L1Ball(2.0)))
    runs = [(problem, method) for problem in problems for method in ("exact", "cg-bio-anytime")]
    allow_all()
    for problem, method in runs:
        tb.solve(problem, method, max_iter=300)
    called = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "numba" in frame.f_code.co_filename:
            called.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        for problem, method in runs:
            tb.solve(problem, method, max_iter=300)
    finally:
        sys.setprofile(None)
    assert "_numba_unpickle" not in called


INTERRUPTED = """
import signal, sys
import numpy as np, tiebreak as tb
from tiebreak.kernels import allow_all
allow_all()
rng = np.random.default_rng(0)
A, B = rng.standard_normal((60, 200)), rng.standard_normal((40, 200))
problem = tb.Problem(tb.LeastSquares(B, B[:, 0]), tb.LeastSquares(A, A @ rng.standard_normal(200)), tb.L1Ball(100.0))
tb.solve(problem, "exact")
signal.signal(signal.SIGALRM, signal.default_int_handler)
count = 0
while count < 40:
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 2e-2))
    try:
        for _ in range(50):
            if tb.solve(problem, "exact").status is tb.Status.INTERRUPTED:
                break
    except KeyboardInterrupt:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    count += 1
print("alive")
"""


@pytest.mark.skipif(not HAS_NUMBA or not hasattr(__import__("signal"), "setitimer"), reason="needs numba")
def test_interrupts_at_random_moments():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert "alive" in done.stdout


@pytest.mark.parametrize("size", [1e154, 1e200, 1e300, 1e-160, 1e-200])
def test_data_whose_squares_leave_the_range_are_refused(size):
    rng = np.random.default_rng(6)
    A, b = rng.standard_normal((4, 6)), rng.standard_normal(4)
    huge, usual = tb.LeastSquares(size * A, size * b), tb.LeastSquares(A[:2], b[:2])
    for domain in (tb.L1Ball(1.0), tb.KSparse(2, 1.0), tb.Simplex()):
        for problem in (
            tb.Problem(huge, usual, domain),
            tb.Problem(usual, huge, domain),
            tb.Problem(usual, huge, domain, slack=1e-3),
        ):
            with pytest.raises(ValueError, match=r"squares of that are beyond double\s+precision"):
                tb.solve(problem, "exact", max_time=5.0)
    with pytest.raises(ValueError, match="upper: over this domain"):
        tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A / size, b), tb.L1Ball(size)), "exact", max_time=5.0)
