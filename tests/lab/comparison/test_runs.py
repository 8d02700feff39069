"""Runs against the truth, their clock, their files, profiles, and the command."""

from __future__ import annotations

import io
import json
import math
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.cli import main
from tiebreak.lab.comparison.docs import pages
from tiebreak.lab.comparison.families import FAMILIES, Family
from tiebreak.lab.comparison.findings import findings
from tiebreak.lab.comparison.plots import SHOWN, best_methods
from tiebreak.lab.comparison.profile import area, profile, ratios
from tiebreak.lab.comparison.results import Results, summary
from tiebreak.lab.comparison.run import Record, run, timed
from tiebreak.lab.comparison.settings import GRID, labels, solver_for
from tiebreak.lab.comparison.suite import Task, perform, perform_all, tasks
from tiebreak.methods import METHODS, SOLVERS
from tiebreak.states import Clock

DOCS = Path(__file__).parents[3] / "docs"
inf = math.inf


# -- profiles ----------------------------------------------------------------------------------------------------------


def test_profile_of_an_example_worked_by_hand() -> None:
    """Three methods, four problems; the last one is solved by nobody."""
    costs = {"a": [1.0, 2.0, 9.0, inf], "b": [2.0, 1.0, inf, inf], "c": [4.0, 4.0, 3.0, inf]}
    assert ratios(costs) == {"a": [1, 2, 3, inf], "b": [2, 1, inf, inf], "c": [4, 4, 1, inf]}
    assert profile(costs) == {
        "a": ([1, 2, 3], [0.25, 0.5, 0.75]),
        "b": ([1, 2], [0.25, 0.5]),
        "c": ([1, 4], [0.25, 0.75]),
    }
    shares = area(costs, largest=16.0)  # in powers of 2: 4 - 0, 4 - 1, 4 - log2(3), 0, out of 4 x 4
    assert shares["a"] == pytest.approx((4 + 3 + 4 - math.log2(3)) / 16)
    assert shares["c"] == pytest.approx((2 + 2 + 4) / 16)


# -- one run -----------------------------------------------------------------------------------------------------------


def slow_to_watch(now: list[float]) -> Family:
    """Each gradient takes 1 s of a pretended clock, each look at the truth 1000 s."""

    class Watched(Family):
        def gaps(self, x: np.ndarray) -> tuple[float, float]:
            now[0] += 1000
            return super().gaps(x)

    def grad(x: np.ndarray) -> np.ndarray:
        now[0] += 1
        return np.full(2, x.sum() - 1)

    g = tb.Function(lambda x: 0.5 * (x.sum() - 1) ** 2, grad, dim=2, convex=True, smoothness=2.0)
    problem = tb.Problem(tb.SquaredNorm([1.0, 0.0]), g, tb.Box(-1.0, 1.0))
    return Watched("slow to watch", problem, np.array([1.0, 0.0]), 0.0)


def test_looking_at_the_truth_does_not_count() -> None:
    now = [0.0]
    record = timed(slow_to_watch(now), "stabim", "default", 50.0, Clock(lambda: now[0]))
    ks, seconds = [look[0] for look in record.looks], [look[1] for look in record.looks]
    assert now[0] > 1000 * len(ks)
    assert seconds == ks and len(ks) > 10  # one gradient of g an update, and nothing else


def test_a_run_ends_at_the_truth_or_at_its_limit() -> None:
    good = run("hoelder-1", "r-apm", "default", 5.0)
    assert good.status == "reached"
    assert max(abs(good.looks[-1][3]), good.looks[-1][4]) <= 1e-6
    assert all(hit is not None and hit[2] for hit in good.reached(5.0))
    assert all(max(abs(f), g) > 1e-6 for *_, f, g in good.looks[:-1])
    bad = run("least-norm", "cg", "default", 0.05)
    assert bad.status == "time" and bad.reached(0.05) == [None, None, None]
    assert 0.05 <= bad.looks[-1][1] < 0.5


def test_methods_that_do_not_apply_say_why() -> None:
    record = run("regression", "mng", "default", 1.0)
    assert record.status.startswith("not applicable: mng") and not record.looks


def test_what_was_reached_is_the_first_time_within_the_limit() -> None:
    looks = [(0, 0.0, 1.0, 1.0, 1.0), (1, 1.0, 3.0, -9e-3, 5e-3), (2, 2.0, 5.0, 9e-5, 1e-5), (3, 3.0, 7.0, 0.5, 0.0)]
    assert Record(looks).reached(5.0) == [(1.0, 3.0, False), (2.0, 5.0, False), None]
    assert Record(looks).reached(1.5) == [(1.0, 3.0, False), None, None]
    assert Record(looks[:3]).reached(5.0)[0] == (1.0, 3.0, True)
    assert Record([(1, 1.0, 1.0, -0.5, 0.0)]).reached(5.0)[0] is None  # below f* is wrong, too


@pytest.mark.parametrize("method", METHODS)
def test_settings_are_four_different_solvers(method: str) -> None:
    family = FAMILIES["logistic"]()
    made = [solver_for(method, label, family) for label in labels(method)]
    assert len(made) == (4 if method in GRID else 1) and len(set(map(repr, made))) == len(made)
    assert all(type(solver) is SOLVERS[method] for solver in made)
    if method in GRID:
        assert GRID[method][0] in [field.name for field in fields(made[0])]
    if hasattr(made[0], "tol_lower"):
        assert made[0].tol_lower == pytest.approx(1e-4 * family.units[1])


# -- all runs ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def few() -> list[Task]:
    return tasks(0.05, ["hoelder-1", "toy"], ["exact", "r-apm"], tuned=False)


def test_what_is_kept_is_not_run_again(tmp_path: Path, few: list[Task]) -> None:
    first, later = io.StringIO(), io.StringIO()
    records = perform_all(few, tmp_path, 2, first)
    assert "4 runs to make, 0 kept" in first.getvalue() and "4 of 4" in first.getvalue()
    assert perform_all(few, tmp_path, 1, later) == records and records[few[0]].looks
    assert "0 runs to make, 4 kept" in later.getvalue()  # a time that is measured again would differ


def test_a_method_that_breaks_is_a_result() -> None:
    made = perform("no such family", "exact", "default", 1.0)
    assert made["status"] == "failed: KeyError: 'no such family'" and made["looks"].shape == (0, 5)


def test_the_key_of_a_run_changes_with_what_is_run() -> None:
    task = Task("toy", "r-apm", "default", 1.0)
    changed = [("r-apm", "default", 2.0), ("r-apm", "eta=0.01", 1.0), ("tseng", "default", 1.0)]
    others = [Task("toy", *change) for change in changed]
    assert len({one.piece.key() for one in [task, *others]}) == 4
    code = task.piece.code
    assert code is not None and version("tiebreak") in code and "class RAPM" in code


def test_all_runs_of_the_comparison() -> None:
    everything = tasks(1.0)
    assert len(everything) == len(FAMILIES) * sum(len(labels(method)) for method in METHODS)
    assert len(FAMILIES) >= 12
    with pytest.raises(ValueError, match=r"unknown family 'nonsense'; available: least-norm"):
        tasks(1.0, ["nonsense"])


def test_results_survive_their_file(tmp_path: Path, few: list[Task]) -> None:
    results = summary(perform_all(few, tmp_path, 1, io.StringIO()))
    again = Results.from_json(results.to_json())
    assert again == results
    assert again.solved("exact", 1e-6, "default") == 2
    assert set(again.costs(1e-2, "default", "calls")) == {"r-apm"}  # exact calls no oracles
    assert len(findings(again)) == 4  # nothing to say of methods without projections


def test_tuned_is_the_best_of_all_settings() -> None:
    text = json.dumps({
        "about": {}, "families": {"toy": ""},
        "runs": [
            ["toy", "a", "default", "time", [[2.0, 8.0, True], None, None]],
            ["toy", "a", "c=1", "time", [[1.0, 9.0, True], [3.0, 20.0, True], None]],
        ],
    })  # fmt: skip
    results = Results.from_json(text)
    assert results.cost("toy", "a", 1e-2, "default") == 2 and results.cost("toy", "a", 1e-2, "tuned") == 1
    assert results.cost("toy", "a", 1e-2, "tuned", "calls") == 8
    assert results.cost("toy", "a", 1e-4, "default") == inf and results.solved("a", 1e-4, "tuned") == 1


def test_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = "bench methods --quick --families toy,hoelder-1 --methods exact,r-apm --seconds 0.05 --jobs 1 --out"
    assert main([*command.split(), str(tmp_path)]) == 0
    assert "4 runs to make" in capfd.readouterr().err
    results = Results.load(tmp_path / "comparison.json")
    assert results.solved("exact", 1e-6, "default") == 2
    assert "# All methods compared" in (tmp_path / "comparison.md").read_text()
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "comparison-profiles.png", "comparison-profiles-calls.png"
    }  # fmt: skip


def test_command_names_a_wrong_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "methods", "--methods", "exakt", "--out", str(tmp_path)]) == 2
    assert "unknown method 'exakt'" in capsys.readouterr().err


# -- pages -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["methods.md", "comparison.md", "rates.md"])
def test_pages_are_what_is_built_from_the_stored_results(name: str) -> None:
    assert (DOCS / name).read_text() == pages(DOCS)[name], "run: python -m tiebreak.lab.comparison.docs docs"


def test_stored_results_are_small_and_complete() -> None:
    assert (DOCS / "comparison.json").stat().st_size < 200_000
    assert sum(path.stat().st_size for path in DOCS.glob("comparison*.png")) < 300_000
    results = Results.load(DOCS / "comparison.json")
    assert list(results.rows) == list(FAMILIES)
    assert len(findings(results)) == 5
    for what, always in (("seconds", {"exact", "cg-bio-anytime"}), ("calls", {"cg-bio-anytime"})):
        shown = best_methods(results, what=what)
        assert (
            len(shown) == SHOWN and always <= set(shown) and shown[0] == best_methods(results, what=what, shown=30)[0]
        )
