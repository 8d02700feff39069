"""A run that was put aside goes on as if nothing had happened, and only where it belongs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.fingerprint import fingerprint
from tiebreak.methods import SOLVERS
from tiebreak.storage import load_state, save_state

TIGHT = {"tol_upper": 1e-13, "tol_lower": 1e-13, "max_time": None}


def make(seed: int = 0, radius: float = 1.5, slack: float = 0.0, domain: type[tb.Domain] = tb.L2Ball) -> tb.Problem:
    """Curved upper level, many lower solutions, two sums over rows: every method can work on it."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((8, 12)), rng.standard_normal((15, 12))
    upper = tb.LeastSquares(B, rng.standard_normal(15)) + 0.1 * tb.SquaredNorm(dim=12)
    if domain is tb.L2Ball:  # mng wants a quadratic that it can factorise, and so does everyone else
        upper = tb.SquaredNorm(center=rng.standard_normal(12))
    return tb.Problem(upper, tb.LeastSquares(A, 0.1 * A.sum(axis=1)), domain(radius), slack=slack)


class Keep:
    """Puts the states at some updates aside, as a Checkpoint does, but in memory."""

    def __init__(self, *ks: int) -> None:
        self.ks, self.states = ks, {}

    def __call__(self, event: tb.Event) -> None:
        if event.k in self.ks:
            self.states[event.k] = event.resumable


@pytest.mark.parametrize("slack", [0.0, 0.05])
@pytest.mark.parametrize("name", SOLVERS)
def test_every_method_goes_on_bit_for_bit(name: str, slack: float, tmp_path: Path) -> None:
    problem = make(slack=slack, domain=tb.L1Ball if name == "exact" else tb.L2Ball)
    keep = Keep(1, 17)
    whole = tb.solve(problem, name, max_iter=40, seed=5, callback=keep, **TIGHT)
    assert keep.states
    for k, state in keep.states.items():
        path = tmp_path / f"{k}.npz"
        save_state(state, path)
        rest = tb.solve(problem, name, x0=path, max_iter=40, **TIGHT)
        assert rest.x.tobytes() == whole.x.tobytes(), k
        assert (rest.certificate, rest.nit, rest.status, rest.seed) == (
            whole.certificate, whole.nit, whole.status, 5
        ), k  # fmt: skip


@pytest.mark.parametrize("name", SOLVERS)
def test_what_was_proved_stays_proved(name: str, tmp_path: Path) -> None:
    problem = make(3, domain=tb.L1Ball if name == "exact" else tb.L2Ball)
    half = tb.solve(problem, name, max_iter=26, **TIGHT)
    half.save(tmp_path / "half.npz")
    whole = tb.solve(problem, name, max_iter=45, **TIGHT)
    for start in (half.state, tmp_path / "half.npz"):
        rest = tb.solve(problem, "auto", x0=start, max_iter=45, **TIGHT)
        assert rest.method == name
        for before in (half.certificate, whole.certificate):
            assert rest.certificate.g_lower >= before.g_lower and rest.certificate.g_upper <= before.g_upper
            assert rest.certificate.f_lower >= before.f_lower and rest.certificate.f_upper <= before.f_upper


def test_a_looser_tolerance_is_read_off_what_is_known() -> None:
    problem = make(1)
    first = tb.solve(problem, "cg-bio-anytime", max_iter=300, **TIGHT)
    gaps = first.certificate
    again = tb.solve(
        problem, "cg-bio-anytime", x0=first.state, tol_upper=abs(gaps.upper_gap) + 1e-9, tol_lower=gaps.lower_gap + 1e-9
    )
    assert again.success and again.nit == first.nit and np.array_equal(again.x, first.x)


def variants() -> dict[str, tb.Problem]:
    """Problems that differ from ``make()`` in one thing each."""
    base, other = make(), make(1)
    A = base.lower.A.copy()
    A[3, 4] = np.nextafter(A[3, 4], 9)
    return {
        "upper": replace(base, upper=other.upper),
        "lower": replace(base, lower=other.lower),
        "lower, last bit": replace(base, lower=tb.LeastSquares(A, base.lower.b)),
        "lower, scaled": replace(base, lower=2 * base.lower),
        "domain": make(radius=1.4),
        "domain, other kind": replace(base, domain=tb.L1Ball(1.5)),
        "slack": base.with_slack(1e-3),
        "error_bound": replace(base, error_bound=tb.ErrorBound(1.0, 2.0)),
    }


@pytest.mark.filterwarnings("ignore:x0 lies outside")
@pytest.mark.parametrize("change", variants())
def test_a_state_of_another_problem_is_refused(change: str, tmp_path: Path) -> None:
    result = tb.solve(make(), "cg-bio-anytime", max_iter=20, **TIGHT)
    result.save(tmp_path / "run.npz")
    for start in (result.state, tmp_path / "run.npz", str(tmp_path / "run.npz")):
        with pytest.raises(ValueError, match=f"state of another problem.*{change.split(',')[0]}"):
            tb.solve(variants()[change], "cg-bio-anytime", x0=start, max_iter=30, **TIGHT)
    for start in (result, result.x):  # a point is a start anywhere
        assert tb.solve(variants()[change], "cg-bio-anytime", x0=start, max_iter=5, **TIGHT).nit == 5


@pytest.mark.parametrize("name", SOLVERS)
def test_no_method_takes_a_state_to_a_smaller_set(name: str) -> None:
    domain = tb.L1Ball if name == "exact" else tb.L2Ball
    state = tb.solve(make(domain=domain), name, max_iter=10, **TIGHT).state
    with pytest.raises(ValueError, match="different: domain"):
        tb.solve(make(radius=0.1, domain=domain), name, x0=state, max_iter=20)


def test_an_exact_answer_of_other_data_is_refused() -> None:
    state = tb.solve(make(domain=tb.L1Ball), "exact").state
    with pytest.raises(ValueError, match="different: upper, lower"):
        tb.solve(make(7, domain=tb.L1Ball), "exact", x0=state)


def test_functions_are_told_apart_by_values() -> None:
    def problem(weight: float, noise: float = 0.0) -> tb.Problem:
        f = tb.Function(lambda x: weight * x @ x + noise, lambda x: 2 * weight * x, convex=True)
        ball = tb.FromOracles(lmo=lambda c: -weight * c / (np.linalg.norm(c) or 1.0), diameter=2 * weight, dim=12)
        return tb.Problem(f, make().lower, ball)

    first = fingerprint(problem(1.0))
    assert not first.difference(fingerprint(problem(1.0, 1e-12)))
    assert first.difference(fingerprint(problem(2.0)))
    f = tb.Function(lambda x: 1.001 * x @ x, lambda x: 2.002 * x, convex=True)
    assert "functions" in first.difference(fingerprint(replace(problem(1.0), upper=f)))


def test_a_fingerprint_does_not_change_with_use_or_layout() -> None:
    from scipy import sparse

    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((5, 6)), rng.standard_normal(5)
    box = tb.Polyhedron(A_ub=np.ones((1, 6)), b_ub=[3.0], bounds=(0, 1))
    blocks = tb.Product({"a": (tb.L2Ball(1.0), (2,)), "b": (tb.Box(0, 1), (4,))})
    sets = [tb.L1Ball(1.0), box, blocks, tb.KSparse(2, 1.0), tb.Columns(tb.Simplex(), (2, 3))]
    for domain in sets:
        for matrix in (A, np.asfortranarray(A), sparse.csr_array(A), sparse.csc_array(A)):
            problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(matrix, b), domain)
            before = fingerprint(problem)
            tb.solve(problem, "cg-bio-anytime", max_iter=5)
            assert fingerprint(problem) == before and not before.probes
    by_rows, by_columns = (tb.Problem(tb.SquaredNorm(), tb.LeastSquares(M, b), sets[0]) for M in (A, A.copy(order="F")))
    assert fingerprint(by_rows) == fingerprint(by_columns)


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from test_resume import make, fingerprint"
    command = [sys.executable, "-c", f"{code}; print(fingerprint(make()))", str(Path(__file__).parent)]
    other = {**os.environ, "PYTHONHASHSEED": "1"}
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=other)
    assert told.stdout.strip() == str(fingerprint(make()))


def test_another_method_and_other_parameters() -> None:
    state = tb.solve(make(), "cg-bio-anytime", max_iter=10, **TIGHT).state
    with pytest.raises(ValueError, match="state of the method 'cg-bio-anytime', which 'big-sam' cannot"):
        tb.solve(make(), "big-sam", x0=state)
    with pytest.warns(UserWarning, match="goes on with"):
        tb.solve(make(), tb.AnytimeCGBiO(step=tb.steps.Adaptive()), x0=state, max_iter=12)
    with pytest.raises(ValueError, match="does not say which problem"):
        tb.solve(make(), "cg-bio-anytime", x0=replace(state, origin=None))


def test_states_of_iterate_can_be_taken_up() -> None:
    state = next(state for state in tb.iterate(make(), "big-sam") if state.k == 12)
    rest = tb.solve(make(), "big-sam", x0=state, max_iter=30, **TIGHT)
    assert np.array_equal(rest.x, tb.solve(make(), "big-sam", max_iter=30, **TIGHT).x)
    with pytest.raises(ValueError, match="another problem"):
        next(tb.iterate(make(1), "big-sam", x0=state))


def test_checkpoint_writes_whole_files_and_says_where_it_cannot(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "run.npz"
    tb.solve(make(), "cg-bio-anytime", max_iter=25, callback=tb.Checkpoint(path, every=10), **TIGHT)
    assert load_state(path).k == 20 and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match=r"cannot write .*nowhere"):
        tb.solve(make(), "cg-bio-anytime", callback=tb.Checkpoint(tmp_path / "nowhere" / "run.npz"))
    with pytest.raises(ValueError, match="is a checkpoint"):
        tb.Result.load(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    checkpoint = tb.Checkpoint(path, every=10)
    checkpoint(Fake(load_state(path)))
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="No space left on device; the run goes on"):
        checkpoint(Fake(load_state(path)))
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


class Fake:
    """An event at the update of a state."""

    def __init__(self, state: tb.State) -> None:
        self.resumable, self.k = state, state.k


KILLED = """
    import sys; sys.path.insert(0, sys.argv[1])
    import tiebreak as tb
    from test_resume import make, TIGHT
    path = sys.argv[2]
    show = tb.Every(5, lambda event: print(event.k, flush=True))
    tb.solve(make(), "cg-bio-anytime", max_iter=100_000, callback=[tb.Checkpoint(path, every=5), show], **TIGHT)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("moment", [3, 150])
def test_a_killed_run_goes_on_bit_for_bit(moment: int, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(Path(__file__).parent), str(path)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert run.stdout is not None
    for _ in range(moment):
        run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    k = load_state(path).k  # whole, whenever it was killed
    assert k >= 5 * (moment - 2)
    rest = tb.solve(make(), "cg-bio-anytime", x0=path, max_iter=k + 50, **TIGHT)
    whole = tb.solve(make(), "cg-bio-anytime", max_iter=k + 50, **TIGHT)
    assert rest.x.tobytes() == whole.x.tobytes() and rest.certificate == whole.certificate


def test_a_checkpoint_between_updates_made_at_once_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """Over an l1 ball updates are made many at a time; where these end, and who looks, changes nothing."""
    problem, path = make(domain=tb.L1Ball), tmp_path / "run.npz"
    tb.solve(problem, "cg-bio-anytime", max_iter=700, callback=tb.Checkpoint(path, every=97), **TIGHT)
    assert load_state(path).k == 679
    rest = tb.solve(problem, "cg-bio-anytime", x0=path, max_iter=1400, verbose=True, **TIGHT)
    whole = tb.solve(problem, "cg-bio-anytime", max_iter=1400, **TIGHT)
    assert rest.x.tobytes() == whole.x.tobytes() and rest.certificate == whole.certificate


def test_a_file_whose_memory_has_another_shape_is_not_believed(tmp_path: Path) -> None:
    """As many numbers, laid out otherwise: the loop starts afresh instead of failing in its middle."""
    problem, path = make(domain=tb.L1Ball), tmp_path / "run.npz"
    tb.solve(problem, "cg-bio-anytime", max_iter=97, callback=tb.Checkpoint(path, every=97), **TIGHT)
    state = load_state(path)
    assert state.memory
    first, *others = state.memory
    bent = replace(state, memory=(first, *(vector[:, None] for vector in others[:-1]), others[-1]))
    again = tb.solve(problem, "cg-bio-anytime", x0=bent, max_iter=200, **TIGHT)
    assert again.success or again.nit == 200


def test_a_file_without_a_point_that_its_method_always_has_is_refused(tmp_path: Path) -> None:
    problem, path = make(domain=tb.L1Ball), tmp_path / "run.npz"
    tb.solve(problem, "cg-bio-anytime", max_iter=7, callback=tb.Checkpoint(path, every=7), **TIGHT)
    with pytest.raises(ValueError, match="point is missing: the file is damaged"):
        tb.solve(problem, "cg-bio-anytime", x0=replace(load_state(path), point=None), max_iter=20, **TIGHT)
