"""Methods of a user and of other packages: by name wherever the library's own are, and checked when they come."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from own_method import Own

import tiebreak as tb
from tiebreak.cli import main
from tiebreak.files.task import read_task
from tiebreak.lab.comparison.results import Results
from tiebreak.methods import METHODS, SOLVERS

PROBLEM = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(np.ones((1, 3)), [1.0]), tb.L1Ball(2.0))


@pytest.fixture(autouse=True)
def nothing_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SOLVERS, "added", {})


@pytest.fixture
def own() -> type[tb.Solver]:
    return tb.register(Own)


class Renamed(tb.CG):
    info = replace(tb.CG.info, name="renamed")


def test_a_registered_method_is_known_by_name_everywhere(own, tmp_path: Path) -> None:
    result = tb.solve(PROBLEM, "own-method", tol_upper=1e-2, tol_lower=1e-2)
    assert result.success and result.method == "own-method"
    assert [state.k for _, state in zip(range(3), tb.iterate(PROBLEM, "own-method"), strict=False)] == [0, 1, 2]
    assert [info.name for info in tb.methods()] == [*METHODS, "own-method"] and "own-method" in repr(tb.methods())
    assert SOLVERS["own-method"] is own and len(SOLVERS) == len(METHODS) + 1
    result.save(tmp_path / "run.npz")
    assert tb.Result.load(tmp_path / "run.npz").method == "own-method"
    with pytest.raises(ValueError, match="did you mean 'own-method'"):
        tb.solve(PROBLEM, "own-metod")


def test_it_conforms(own) -> None:
    assert tb.testing.check_solver(own()) > 100


def test_a_problem_file_names_it(own, tmp_path: Path) -> None:
    text = 'upper = { type = "SquaredNorm" }\n[lower]\ntype = "LeastSquares"\nA = [[1.0, 1.0]]\nb = [1.0]\n'
    file = tmp_path / "problem.toml"
    file.write_text(f'{text}[domain]\ntype = "L1Ball"\nradius = 2.0\n[method]\nname = "own-method"\nsigma = 0.1\n')
    assert read_task(file).method == own(sigma=0.1)


def test_the_comparison_runs_it_in_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    Path("registers_it.py").write_text("import tiebreak\nfrom own_method import Own\n\ntiebreak.register(Own)\n")
    command = "bench methods --quick --families hoelder-1 --methods own-method,r-apm --seconds 0.05 --jobs 1"
    assert main([*command.split(), "--load", "registers_it", "--out", str(tmp_path)]) == 0
    results = Results.load(tmp_path / "comparison.json")
    assert results.methods == ["own-method", "r-apm"] and results.solved("own-method", 1e-2, "default") == 1
    assert "`own-method`" in (tmp_path / "comparison.md").read_text()
    capfd.readouterr()
    assert main(["bench", "methods", "--load", "no_such_module", "--out", str(tmp_path)]) == 2
    assert "no_such_module" in capfd.readouterr().err


def test_the_same_class_again_takes_the_place_of_the_first() -> None:
    def define(batch: int) -> type[tb.Solver]:
        class Mine(tb.CG):
            info = replace(tb.CG.info, name="mine", year=2000 + batch)

        return tb.register(Mine)

    define(1), define(2)
    assert SOLVERS["mine"].info.year == 2002 and [info.name for info in tb.methods()].count("mine") == 1


@dataclass(frozen=True)
class Demanding(tb.CG):
    power: float = 1.0
    info = replace(tb.CG.info, name="demanding")

    def __init__(self, power: float) -> None:
        pass


def spoilt(**change: object) -> type:
    return type("Spoilt", (Renamed,), change)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (3, TypeError, "subclass of tiebreak.Solver, got 3"),
        (dict, TypeError, "subclass of tiebreak.Solver"),
        (Renamed(), TypeError, "by its class, Renamed, not by an instance"),
        (tb.Solver, TypeError, "Solver lacks advance and start"),
        (spoilt(info=None), TypeError, "lacks info"),
        (spoilt(info=replace(tb.CG.info, name="Mine!")), ValueError, "digits and hyphens, got 'Mine!'"),
        (spoilt(info=replace(tb.CG.info, name="auto")), ValueError, "'auto' is taken by tiebreak"),
        (spoilt(info=tb.CG.info), ValueError, "'cg' is taken by tiebreak: choose another info.name for Spoilt"),
        (spoilt(needs=None), ValueError, "needs of Spoilt must be a frozenset of domain.contains"),
        (spoilt(needs=frozenset({"domain.lmoo"})), ValueError, "domain.lmoo"),
        (spoilt(works_on_data=True), ValueError, "works on the data"),
        (Demanding, TypeError, "need defaults: power"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(wrong: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        tb.register(wrong)  # type: ignore[type-var]
    assert not SOLVERS.added


def test_a_name_that_another_class_has_is_taken() -> None:
    tb.register(Renamed)
    with pytest.raises(ValueError, match="'renamed' is taken by another method"):
        tb.register(spoilt())


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package beside tiebreak with entry points of the group ``tiebreak.methods``, one of them broken."""
    info = tmp_path / "somewhere-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somewhere\nVersion: 1.0\n")
    lines = ["theirs = tiebreak.methods.cg:CG", "broken = builtins:dict", "missing = no_such_module:Method"]
    (info / "entry_points.txt").write_text("\n".join(["[tiebreak.methods]", *lines, ""]))
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_entry_points_of_other_packages(caplog: pytest.LogCaptureFixture) -> None:
    assert tb.solve(PROBLEM, "theirs", max_iter=5).nit <= 5
    with pytest.raises(TypeError, match="not a tiebreak solver"):
        tb.solve(PROBLEM, "broken")
    with pytest.raises(ValueError, match="theirs"):
        tb.solve(PROBLEM, "their")
    assert len(tb.methods()) == len(METHODS) + 1
    assert "'broken' of another package is left out" in caplog.text and "'missing'" in caplog.text
    with pytest.raises(ValueError, match="'theirs' is taken by another method"):
        tb.register(spoilt(info=replace(tb.CG.info, name="theirs")))
