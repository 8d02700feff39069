"""What is compiled, when, who is told, and what it is counted as."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiebreak.cli import main
from tiebreak.kernels import HAS_NUMBA, Group, Kernel, NotCompiled, clock

needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed: nothing is compiled")


def run(code: str, cache: Path | None = None) -> str:
    """The output of a process of its own."""
    places = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    environment = {name: value for name, value in os.environ.items() if name != "TIEBREAK_NO_NUMBA"} | places
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_switched_off_a_kernel_is_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIEBREAK_NO_NUMBA", "1")
    kernel = Kernel(lambda x: x + 1, Group("a sum", 0.0))
    assert kernel(2) == 3 and kernel.signatures == kernel.built == 0
    with pytest.raises(NotCompiled):
        kernel.compiled(2)


def test_the_clock_is_a_clock() -> None:
    first = clock()
    assert 0 <= clock() - first < 10


FIRST = """
import logging, sys
import numpy as np, tiebreak as tb
from tiebreak.kernels import kernels

class Kept(logging.Handler):
    def emit(self, record):
        print(record.levelname, record.getMessage())

logging.getLogger("tiebreak").setLevel(logging.INFO)
logging.getLogger("tiebreak").addHandler(Kept())
rng = np.random.default_rng(0)
f, g = (tb.LeastSquares(rng.normal(size=(n, 60)), rng.normal(size=n)) for n in (20, 25))
for _ in range(2):
    assert tb.solve(tb.Problem(f, g, tb.L1Ball(5.0))).success
print("compiled", sum(kernel.built for kernel in kernels() if kernel.signatures))
"""


@needs_numba
def test_a_first_small_solve_compiles_nothing_and_says_so_once(tmp_path: Path) -> None:
    out = run(FIRST, tmp_path)
    assert "compiled 0" in out and "INFO compiling" not in out
    assert out.count("the loops of the column engine: not compiled on this machine yet") == 1
    assert "tiebreak warm-up" in out


PAYS = """
import logging, time
import numpy as np, tiebreak as tb
from tiebreak.kernels.registry import PATIENCE
from tiebreak.kernels.soft_threshold import fast_threshold_to_sum as kernel
from tiebreak.numerics.deadline import check, limited, remaining

messages = []
class Kept(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())

logging.getLogger("tiebreak").setLevel(logging.INFO)
logging.getLogger("tiebreak").addHandler(Kept())
x, ball = np.arange(10.0), tb.L1Ball(1.0)
expected = ball.project(x)
assert kernel.signatures == 0 and kernel.group.spent > 0
kernel.group.spent = PATIENCE * kernel.group.seconds
began = time.perf_counter()
with limited(1000.0):
    np.testing.assert_allclose(ball.project(x), expected, atol=1e-15)
    left, taken = remaining(), time.perf_counter() - began
    check()
assert kernel.signatures == kernel.built == 1 and 0 < kernel.seconds <= taken
assert abs((1000.0 - left) - (taken - kernel.seconds)) < 0.01, (left, taken, kernel.seconds)
ball.project(x + 1)
assert sum(message.startswith("compiling projections") for message in messages) == 1, messages
print("done")
"""


@needs_numba
def test_what_pays_is_compiled_announced_once_and_no_part_of_the_time_limit(tmp_path: Path) -> None:
    assert "done" in run(PAYS, tmp_path)


OWN = """
from numba import njit
import numpy as np, tiebreak as tb
tb.L1Ball(1.0).project(np.arange(3.0))
twice = njit(lambda x: 2 * x)
print(twice(3))
"""


@needs_numba
def test_functions_of_others_are_none_of_its_business(tmp_path: Path) -> None:
    assert run(OWN, tmp_path).strip() == "6"


@needs_numba
def test_warm_up_compiles_all_that_solves_call() -> None:
    out = run("import sys; from tiebreak.cli import main; sys.exit(main(['warm-up']))")
    assert "All there after" in out
    out = run(WARM)
    names = {"axis_cut", "ball_cut", "threshold_to_sum", "logistic_link", "squares_by_rows", "squares_with_errors",
             "column_norms", "insert", "follow", "write_prices", "evaluate", "rounds", "loop", "gram_updates",
             "fair_updates", "factor_updates", "search"}  # fmt: skip
    assert set(out.split()) == names  # all there are, and none was compiled anew


WARM = """
import numpy as np, tiebreak as tb
from dataclasses import replace
from scipy import sparse
from tiebreak.kernels import kernels
import tiebreak.kernels.sparse_rows
from tiebreak.methods.shared.fast_cut import chunk
from tiebreak.steps import InverseSqrt

rng = np.random.default_rng(0)
A, B = rng.normal(size=(25, 60)), rng.normal(size=(20, 60))
f, g = tb.LeastSquares(B, rng.normal(size=20)), tb.LeastSquares(A, rng.normal(size=25))
for domain in (tb.L1Ball(5.0), tb.Simplex(2.0), tb.L1Ball(2.0, np.arange(1.0, 61.0)), tb.KSparse(2, 1.0)):
    problem = tb.Problem(f, g, domain)
    tb.solve(problem)
    tb.solve(problem, "cg-bio-anytime", max_iter=200)
    domain.project(rng.normal(size=60))
for data in (sparse.csr_array(A), sparse.csc_array(A), np.asfortranarray(A)):
    tb.solve(tb.Problem(f, tb.LeastSquares(data, g.b), tb.L1Ball(5.0)))
    tb.LeastSquares(data, g.b).value_and_grad(np.ones(60))
y = np.arange(25) % 2
tb.solve(tb.Problem(f, tb.Logistic(A, y), tb.L1Ball(5.0)))
fair = tb.Problem(tb.SquaredCovariance(A, y), tb.Logistic(A, y), tb.L1Ball(5.0))
old, new, codes = (rng.standard_normal(shape) for shape in ((5, 12), (5, 9), (4, 12)))
sets = tb.Product({"D": tb.Columns(tb.L2Ball(1.0), (5, 6)), "X": tb.Columns(tb.L1Ball(1.5), (6, 9))})
words = tb.Problem(tb.Reconstruction(new, 6), tb.Reconstruction(old, 6, codes, rest=54), sets)
for problem in (fair, words):
    for solver in (tb.CGBiO(step=InverseSqrt(0.3)),):
        state = solver.start(problem, problem.domain.lmo(np.ones(problem.dim)))
        state = replace(state, level=problem.lower.value(state.x) + 1.0)
        assert chunk(problem, state, InverseSqrt(0.3), "exact", (1e-300, 1e-300), 5).k == 5
        solver.advance(problem, state)
assert tb.prepare(tb.Problem(tb.SquaredNorm(dim=60), g, tb.Box(-1.0, 1.0))).solve().steps
for kernel in kernels():
    assert kernel.signatures and not kernel.built, (kernel.name, kernel.signatures, kernel.built)
    print(kernel.name)
"""


def test_warm_up_without_numba_says_why_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TIEBREAK_NO_NUMBA", "1")
    assert main(["warm-up"]) == 1
    assert "numba" in capsys.readouterr().err
