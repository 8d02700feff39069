"""The dictionary experiment: data, start and methods; the authors' recorded run, where its file is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.experiments.dictionary import ATOMS, DELTA, generate, learn, problem_from, recovery, start
from tiebreak.lab.reproduce import dictionary
from tiebreak.lab.reproduce.dictionary_methods import FIXED, METHODS, NEVER, method, task
from tiebreak.lab.reproduce.dictionary_runs import KEYS, Measures, compared, followed, learned
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.reproduce.record import record
from tiebreak.lab.workshop import Workshop


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return dictionary.run(Request(Workshop(tmp_path_factory.mktemp("kept")), size="quick"))


@pytest.fixture(scope="module")
def instance() -> Measures:
    data = generate(3)
    found = learn(data.A_old, seed=3, steps=300, tol=1e-4)
    problem = problem_from(data.A_old, found.X, data.A_new, DELTA, ATOMS)
    return Measures(problem, start(problem, found.D, seed=3), data.truth, 30)


def reference() -> Path:
    folder = os.environ.get("TIEBREAK_DATA")
    if not folder or not (Path(folder) / "dictionary_reference.npz").exists():
        pytest.skip("TIEBREAK_DATA does not name a folder with dictionary_reference.npz")
    return Path(folder)


@pytest.mark.parametrize("name", KEYS)
def test_iterates_are_those_of_the_authors(name: str) -> None:
    """At all their checkpoints up to k = 100, relative to the largest entry."""
    run = compared(reference(), name, 100)
    assert run["at"].tolist() == [1, 2, 10, 100]
    assert max(run["away"]) <= (1e-7 if name == "CG-BiO" else 1e-13)
    np.testing.assert_allclose(run["end"][:2], run["their_end"][:2], rtol=1e-4)
    assert run["end"][2] == run["their_end"][2]


def test_cg_bio_ends_where_the_authors_run_does() -> None:
    """After 4409 updates, in chunks. What is left of g - g(D_0), 2e-16 of 0.0126, is the rounding of g in the cuts."""
    theirs = np.load(reference() / "dictionary_reference.npz")
    problem = problem_from(theirs["A_old"], theirs["X_hat"], theirs["A_new"], DELTA, ATOMS)
    x0, x = (
        problem.domain.join({"D": D, "X": X})
        for D, X in ((theirs["D0"], theirs["X0"]), (theirs["cg_bio_D"][-1], theirs["cg_bio_X"][-1]))
    )
    solver = tb.CGBiO(tb.steps.InverseSqrt(0.3), tol_upper=NEVER, tol_lower=NEVER)
    state = solver.advance_many(problem, solver.start(problem, x0), 4409)
    assert np.abs(state.x - x).max() <= 1e-9
    measures = Measures(problem, x0, theirs["Dstar"], 29)
    assert measures.f(state.x) == pytest.approx(theirs["cg_bio_upper"][-1], rel=1e-6)
    assert measures.recovery(state.x) == theirs["cg_bio_recovery"][-1] == 0.94
    ulp = np.spacing(problem.lower.value(x0)) / 250
    for theirs_there in (measures.gap(x), theirs["cg_bio_lower_gap"][-1]):  # they differ by 6 % themselves
        assert abs(measures.gap(state.x) - theirs_there) <= 40 * ulp


def test_data() -> None:
    data, again = generate(1), generate(1)
    np.testing.assert_array_equal(data.A_old, again.A_old)
    np.testing.assert_allclose(np.linalg.norm(data.truth, axis=0), 1)
    for A, atoms in ((data.A_old, data.truth[:, :40]), (data.A_new, data.truth[:, 30:])):
        # five atoms each: the best five of a greedy search leave little but the noise of most points
        left = [np.linalg.norm(_pursued(atoms, a)) for a in A.T]
        assert np.median(left) < 2 * 0.01 * np.sqrt(25)
        assert np.linalg.norm(A, axis=0).max() < 5.2
    late = generate(1, authors_atoms=True)
    used = np.linalg.lstsq(late.truth[:, 29:], late.A_new, rcond=None)[1]
    assert used.max() < 0.01 < np.linalg.lstsq(late.truth[:, 30:], late.A_new, rcond=None)[1].max()


def _pursued(atoms: np.ndarray, a: np.ndarray) -> np.ndarray:
    """What orthogonal matching pursuit leaves of a after five atoms."""
    chosen: list[int] = []
    left = a
    for _ in range(5):
        chosen.append(int(np.abs(atoms.T @ left).argmax()))
        left = a - atoms[:, chosen] @ np.linalg.lstsq(atoms[:, chosen], a, rcond=None)[0]
    return left


def test_the_start_is_a_minimiser_of_the_lower_level() -> None:
    """To the gap asked for, against the conic solution of the same least-squares problem."""
    cvxpy = pytest.importorskip("cvxpy")
    A = generate(0).A_old[:5, :12]
    found = learn(A, atoms=3, steps=200, tol=1e-6)
    assert found.gap <= 1e-6
    assert np.linalg.norm(found.D, axis=0).max() <= 1 + 1e-12
    assert np.abs(found.X).sum(axis=0).max() <= DELTA * (1 + 1e-12)
    D = cvxpy.Variable((5, 3))
    error = cvxpy.sum_squares(A - D @ found.X) / 2
    best = cvxpy.Problem(cvxpy.Minimize(error), [cvxpy.norm(D, axis=0) <= 1]).solve(solver="CLARABEL")
    ours = 0.5 * np.linalg.norm(A - found.D @ found.X) ** 2
    assert best - 1e-7 <= ours <= best + 1e-6 + 1e-7


def test_recovery() -> None:
    truth = np.eye(3)
    any_sign_and_length = np.array([[1.0, 0.0], [0.0, -5.0], [0.1, 0.0]])
    assert recovery(truth, any_sign_and_length) == pytest.approx(2 / 3)
    assert recovery(truth, np.zeros((3, 2))) == 0.0
    for cosine, share in ((0.899, 0.0), (0.901, 1 / 3)):
        assert recovery(truth, np.array([[cosine], [np.sqrt(1 - cosine**2)], [0.0]])) == share


def test_a_irg_steps_one_block_after_the_other(instance: Measures) -> None:
    """One update, written out: the step of X uses the D already moved and not yet projected."""
    problem, x0 = instance.problem, instance.x0
    D, X = problem.domain.split(x0).values()
    A_new, A_old, codes = problem.upper.data, problem.lower.data, problem.lower.codes
    slope = (D @ X - A_new) @ X.T
    slope[:, :40] += (D[:, :40] @ codes - A_old) @ codes.T
    moved = D - 0.01 * slope
    X = X - 0.01 * moved.T @ (moved @ X - A_new)
    expected = problem.domain.project(problem.domain.join({"D": moved, "X": X}))
    ours = record(problem, method("a-IRG"), x0=x0, updates=1)["x"]
    np.testing.assert_allclose(ours, expected, atol=1e-12)
    both = record(problem, method("a-IRG, both blocks at once"), x0=x0, updates=1)["x"]
    assert np.abs(both - expected).max() > 1e-5


def test_the_simple_baseline_keeps_the_old_atoms(instance: Measures) -> None:
    own = task(FIXED, instance.problem, instance.x0)
    run = record(own, method(FIXED), x0=instance.x0, updates=30)
    D0, D = (instance.problem.domain.split(x)["D"] for x in (instance.x0, run["x"]))
    held = D0.any(axis=0)
    np.testing.assert_allclose(D[:, held], D0[:, held], atol=1e-13)
    assert np.abs(D[:, ~held]).max() > 0.1
    assert run["f"][-1] < 0.2 * run["f"][0]
    assert not own.domain.contains(instance.problem.domain.lmo(np.ones(own.dim)))


def test_the_gap_is_that_of_g(instance: Measures) -> None:
    x = instance.problem.domain.lmo(np.random.default_rng(0).standard_normal(instance.x0.size))
    g = instance.problem.lower
    assert instance.gap(x) == pytest.approx((g.value(x) - g.value(instance.x0)) / 250, rel=1e-10)


def test_outcome(outcome: Outcome) -> None:
    assert [panel.name for panel in outcome.panels] == ["lower", "upper", "recovery"]
    for panel in outcome.panels:
        assert [curve.label for curve in panel.curves] == list(METHODS)
        for curve in panel.curves:
            assert list(curve.x) == ["seconds", "updates"]
            assert curve.x["updates"][0] == 0 and len(curve.y) == len(curve.x["seconds"])
        ours, *others = panel.curves
        assert ours.x["updates"][-1] == 250
        limit = ours.x["seconds"][-1]
        assert all(limit <= curve.x["seconds"][-1] <= 2 * limit + 0.1 for curve in others)
    ends = {row[0]: row for row in outcome.tables[0].rows}
    assert ends["CG without cut"][5] > 0.1 > 1e-4 > ends["CG-BiO"][5]
    recovered = {row[0]: row[1] for row in outcome.tables[1].rows}
    assert recovered["CG-BiO"] > recovered["start"] > recovered["CG without cut"]


def test_claims(outcome: Outcome) -> None:
    """A short run decides nothing about the ends of runs, whichever way they point."""
    assert [claim.holds for claim in outcome.claims] == [True, True] + [None] * 9
    assert all(claim.why and claim.where and claim.here for claim in outcome.claims)
    assert all("250 of the paper's 4409" in claim.why for claim in outcome.claims[2:-1])
    (printed,) = (one for one in outcome.differences if "Π_Z" in one.text)
    assert "as printed" in printed.changes


def test_as_released() -> None:
    """21 atoms, a start to 1e-10, twice the weights in BiG-SAM."""
    start_of = learned(seed=0, steps=2000, authors=True)
    assert start_of["gap"] <= 1e-10
    assert method("BiG-SAM", True).gamma == 2 * method("BiG-SAM").gamma == 20
    given = {"seed": 0, "D_hat": start_of["D_hat"], "X_hat": start_of["X_hat"]}
    ends = [followed(name="BiG-SAM", updates=25, authors=authors, **given) for authors in (True, False)]
    assert abs(ends[0]["f"][0] - ends[1]["f"][0]) > 1e-3  # other data


def test_a_problem_needs_data_of_one_dimension() -> None:
    with pytest.raises(ValueError, match="same number of rows"):
        problem_from(np.ones((2, 3)), np.ones((1, 3)), np.ones((3, 3)), 1.0, 2)
    with pytest.raises(ValueError, match="delta must be positive"):
        problem_from(np.ones((2, 3)), np.ones((1, 3)), np.ones((2, 3)), 0.0, 2)
