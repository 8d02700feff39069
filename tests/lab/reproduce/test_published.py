"""Published curves: drawn over the runs in their colours where they are at hand, and said to be missing where not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tiebreak.lab.report.style import styles
from tiebreak.lab.reproduce.outcome import Curve, Outcome, Panel
from tiebreak.lab.reproduce.published import overlaid, published

LINE = np.arange(1.0, 4.0)


def panel(*names: str) -> Panel:
    curves = tuple(Curve(name, {"seconds": LINE, "updates": LINE}, LINE) for name in names)
    return Panel("lower", "Lower", "g", curves, caption="As run.")


def folder(tmp_path: Path) -> Path:
    (tmp_path / "curves").mkdir()
    rows = ["series,x,y", "CG-BiO,0.5,3e-4", "CG-BiO,1.5,2e-4", "FW (w/o cutting plane),1,0.25"]
    (tmp_path / "curves" / "dict_lower.csv").write_text("\n".join(rows))
    return tmp_path


def test_curves_are_those_of_the_file(tmp_path: Path) -> None:
    first, second = published(folder(tmp_path), "dict_lower")
    assert (first.label, first.role, second.label) == ("CG-BiO, published", "published", "CG without cut, published")
    np.testing.assert_array_equal(first.x["seconds"], [0.5, 1.5])
    np.testing.assert_array_equal(first.y, [3e-4, 2e-4])
    assert published(tmp_path, "dict_upper") == ()


def test_the_panel_says_what_is_drawn(tmp_path: Path) -> None:
    with_them = overlaid(panel("CG-BiO"), folder(tmp_path), "dict_lower", "theirs.")
    assert len(with_them.curves) == 3 and with_them.caption == "As run. Dotted: theirs."
    without = overlaid(panel("CG-BiO"), None, "dict_lower", "theirs.")
    assert len(without.curves) == 1 and "not at hand" in without.caption


def test_a_method_has_one_colour_in_all_figures(tmp_path: Path) -> None:
    def looks(*panels: Panel) -> dict[tuple[str, str], int | None]:
        return {key: style.color for key, style in styles(Outcome("n", "t", (), (), panels)).items()}

    few = looks(overlaid(panel("DBGD", "CG-BiO", "CG without cut"), folder(tmp_path), "dict_lower", ""))
    many = looks(panel("something", "MNG", "DBGD"), panel("CG-BiO", "BiG-SAM"))
    assert few["run", "DBGD"] == many["run", "DBGD"] and few["run", "CG-BiO"] == many["run", "CG-BiO"]
    assert len({many["run", name] for name in ("something", "MNG", "DBGD", "CG-BiO", "BiG-SAM")}) == 5
    assert few["published", "CG-BiO, published"] == few["run", "CG-BiO"]
    assert few["published", "CG without cut, published"] == few["run", "CG without cut"]
