"""Results from elsewhere: read without trust, put beside ours by the clock of the first machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.cli import main
from tiebreak.lab.comparison.merge import NOT_RUN, merged, read
from tiebreak.lab.comparison.results import Results, yardstick


def content(
    method: str, seconds: float, clock: float, families: tuple[str, ...] = ("toy", "hoelder-1")
) -> dict[str, Any]:
    about = {"schema": 2, "yardstick": clock, "seconds": 0.5, "accuracies": [0.01, 0.0001, 1e-06]}
    about |= {"python": "3.11", "tiebreak": "0.2", "numpy": "2", "scipy": "1"}
    runs = [[family, method, "default", "time", [[seconds, 30.0, True], None, None]] for family in families]
    return {"about": about, "families": dict.fromkeys(families, "a title"), "runs": runs}


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_a_method_from_a_slower_machine_stands_beside_ours(tmp_path: Path) -> None:
    ours = written(tmp_path / "ours.json", content("exact", 0.01, 1e-3))
    theirs = written(tmp_path / "theirs.json", content("mine", 0.02, 4e-3, ("toy", "own")))
    assert main(["bench", "merge", str(ours), str(theirs), "--out", str(tmp_path / "both")]) == 0
    both = Results.load(tmp_path / "both" / "comparison.json")
    assert both.methods == ["exact", "mine"]
    assert set(both.rows) == {"toy", "hoelder-1", "own"}
    assert both.cost("toy", "mine", 1e-2, "default") == pytest.approx(0.005)  # a machine four times as slow
    assert both.cost("toy", "mine", 1e-2, "default", "calls") == 30
    assert both.rows["hoelder-1"]["mine"][0].status == NOT_RUN and not both.applies("mine", "hoelder-1")
    page = (tmp_path / "both" / "comparison.md").read_text()
    assert "From another file: `mine`; seconds times 0.25" in page and "comparison-gaps" not in page


def test_more_can_be_merged_later(tmp_path: Path) -> None:
    files = [(name, read(written(tmp_path / name, content(name, 0.01, 1e-3)))) for name in ("a", "b", "c")]
    once = merged([("ab", merged(files[:2])), files[2]])
    assert once.methods == ["a", "b", "c"] and len(once.about["sources"]) == 2
    assert once.rows == merged(files).rows


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.pop("runs"), "'runs' is missing"),
        (lambda c: c["about"].update(accuracies=[1.0]), "about.accuracies must be"),
        (lambda c: c["about"].update(seconds=True), "about.seconds a positive number"),
        (lambda c: c["about"].update(seconds=1.0), "its runs had 1 s each"),
        (lambda c: c["runs"].append(["toy", "x"]), r"runs\[2\] must be \[family"),
        (lambda c: c["runs"].append(["none", "x", "default", "time", [None] * 3]), "family without a title"),
        (lambda c: c["runs"][0][4].pop(), "3 hits"),
        (lambda c: c["runs"][0][4].__setitem__(0, [float("nan"), 1.0, True]), "has a hit that is not"),
        (lambda c: c["runs"][0].__setitem__(1, "exact"), "there are runs of 'exact' on 'toy' already"),
        (lambda c: c["runs"].clear(), "no runs in it"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(change: Any, says: str, tmp_path: Path) -> None:
    theirs = content("mine", 0.02, 4e-3)
    change(theirs)
    ours = read(written(tmp_path / "ours.json", content("exact", 0.01, 1e-3)))
    with pytest.raises(ValueError, match=says):
        merged([("ours", ours), ("theirs", read(written(tmp_path / "theirs.json", theirs)))])


def test_files_that_are_none_and_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text("{")
    for files, says in (
        ([str(tmp_path / "bad.json")], "two files or more"),
        ([str(tmp_path / "bad.json")] * 2, "cannot be read"),
        (["none", "none"], "cannot be read"),
    ):
        assert main(["bench", "merge", *files, "--out", str(tmp_path)]) == 2
        assert says in capsys.readouterr().err


def test_the_yardstick_is_a_time() -> None:
    assert 0 < yardstick() < 10
