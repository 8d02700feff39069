"""What is written: numbers come back as they were, text does no harm, the same outcome gives the same bytes."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from sample_outcome import HOSTILE, sample
from tiebreak.lab.report import Report
from tiebreak.lab.report.files import plain
from tiebreak.lab.report.style import styles
from tiebreak.lab.reproduce.outcome import Curve, Panel

MADE = "2026-01-01 00:00 UTC"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    Report(folder, made=MADE).add(sample())
    return folder


class Elements(HTMLParser):
    """Every tag with its attributes, and the text inside each."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.tags[-1][0] if self.tags else "", data))


def test_every_panel_has_its_files(folder: Path) -> None:
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    names = ["gap", "plane", "hostile", "nothing"]  # "../hostile" has not left its folder
    figures = {f"sample/{name}.{end}" for name in names for end in ("csv", "png", "svg")}
    assert written == figures | {"sample/outcome.json", "sample/verdicts.csv", "report.html"}
    for figure in figures:
        if figure.endswith(".png"):
            assert (folder / figure).read_bytes().startswith(b"\x89PNG")
        if figure.endswith(".svg"):
            ET.parse(folder / figure)


def test_curves_come_back_from_csv_as_they_were(folder: Path) -> None:
    for panel, name in zip(sample().panels, ("gap", "plane", "hostile", "nothing"), strict=True):
        with (folder / "sample" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        assert (head[0], head[1], head[-1]) == ("curve", "role", panel.y_label)
        for curve in panel.curves:
            mine = [row for row in rows if row[0] == curve.label]
            assert {row[1] for row in mine} == {curve.role}
            assert np.array_equal([float(row[-1]) for row in mine], curve.y, equal_nan=True)
            for i, axis in enumerate(head[2:-1], start=2):
                given = curve.x.get(axis)
                if given is None:
                    assert {row[i] for row in mine} == {""}
                else:
                    assert [float(row[i]) for row in mine] == given.tolist()


def test_json_holds_claims_parameters_versions_and_seed(folder: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    content = json.loads((folder / "sample" / "outcome.json").read_text("utf-8"), parse_constant=refuse)
    assert [claim["holds"] for claim in content["claims"]] == [True, False, None]
    assert content["claims"][1]["quote"] == HOSTILE[0]
    assert content["claims"][0]["evidence"]["margins"] == [1.0] * 10
    assert [len(content[table]) for table in ("differences", "additions")] == [1, 1]
    with (folder / "sample" / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["table"] for row in rows] == ["claims"] * 12 + ["additions"]
    assert float(rows[10]["margin"]) == -1 and rows[-1]["sentence"] == HOSTILE[1]
    assert content["parameters"] == {"radius": 2.0, "limit": "inf", "note": HOSTILE[0], "sizes": [1, 2]}
    assert (content["seed"], content["size"], content["made"]) == (3, "quick", MADE)
    assert {"python", "numpy", "scipy", "tiebreak"} <= set(content["versions"])
    assert content["figures"][2]["files"] == ["hostile.png", "hostile.svg", "hostile.csv"]


def test_the_same_outcome_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    Report(tmp_path, made=MADE).add(sample())
    for path in folder.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes(), path.name
    Report(tmp_path, made="later").add(sample())
    page = (folder / "report.html").read_text("utf-8")
    assert (tmp_path / "report.html").read_text("utf-8") == page.replace(MADE, "later")


def test_text_from_data_makes_no_element(folder: Path) -> None:
    page = Elements((folder / "report.html").read_text("utf-8"))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2
    assert tags.count("img") == len(sample().panels)
    assert "b" in tags and tags.count("b") == 7  # the tallies' own
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        if attributes.get("src") is not None:
            assert attributes["src"].startswith("data:image/svg+xml;base64,")
    words = {text.strip() for _, text in page.texts}
    assert set(HOSTILE[:3]) <= words and any(HOSTILE[3] in text for text in words)  # shown as they are, not obeyed


def test_embedded_curves_are_the_outcome_s(folder: Path) -> None:
    text = (folder / "report.html").read_text("utf-8")
    (inside,) = re.findall(r'<script type="application/json" id="curves">(.*?)</script>', text, re.DOTALL)
    assert not set("<>&\u2028") & set(inside)
    (experiment,) = json.loads(inside)
    gap, _, hostile, _ = experiment["panels"]
    assert [curve["label"] for curve in hostile["curves"]] == list(HOSTILE)
    odd = gap["curves"][1]
    assert odd["y"][10] is None and odd["y"][11] is None and odd["y"][6] == -1.0
    np.testing.assert_allclose(gap["curves"][0]["y"], sample().panels[0].curves[0].y, rtol=1e-8)
    assert "seconds" not in gap["curves"][2]["x"]


def test_nothing_is_fetched(folder: Path) -> None:
    page = Elements((folder / "report.html").read_text("utf-8"))
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "Content-Security-Policy" in a.values())
    assert policy is not None and policy.startswith("default-src 'none'") and "http" not in policy
    for tag, attributes in page.tags:
        assert tag not in ("iframe", "object", "embed", "base", "form")
        link = attributes.get("href")
        assert (
            link is None or link.startswith(("#", "data:,")) or (folder / link).is_file()
        )  # asked for by a click alone


def test_a_method_looks_the_same_in_every_panel_and_unlike_the_others(folder: Path) -> None:
    text = (folder / "report.html").read_text("utf-8")
    (inside,) = re.findall(r'id="curves">(.*?)</script>', text, re.DOTALL)
    curves = [curve for panel in json.loads(inside)[0]["panels"] for curve in panel["curves"]]
    runs = {
        curve["label"]: (curve["color"], tuple(curve["dash"]), curve["marker"])
        for curve in curves
        if curve["role"] == "run"
    }
    assert len(set(runs.values())) == len(runs) == 10
    black_and_white = {(dash, marker) for _, dash, marker in runs.values()}
    assert len(black_and_white) == len(runs)


def test_wrong_panels_are_named(tmp_path: Path) -> None:
    short = Panel("p", "p", "y", (Curve("c", {"k": np.arange(3.0)}, np.arange(2.0)),))
    with pytest.raises(ValueError, match=r"panel 'p', curve 'c': \(2,\) values against \(3,\) on the axis 'k'"):
        Report(tmp_path).add(replace(sample(), panels=(short,)))
    with pytest.raises(ValueError, match="different names"):
        Report(tmp_path).add(replace(sample(), panels=sample().panels[:1] * 2))
    assert not list(tmp_path.iterdir())


def test_a_panel_may_be_empty(tmp_path: Path) -> None:
    Report(tmp_path).add(replace(sample(), panels=(Panel("empty", "Empty", "y", ()),)))
    assert (tmp_path / "sample" / "empty.svg").exists()


def test_a_long_curve_of_nothing_that_can_be_shown(tmp_path: Path) -> None:
    k = np.arange(100.0)
    curves = (Curve("below", {"k": k}, -k), Curve("above", {"k": k}, k + 1), Curve("none", {"k": k}, np.nan * k))
    Report(tmp_path).add(replace(sample(), panels=(Panel("p", "P", "y", curves),)))
    drawn = ET.parse(tmp_path / "sample" / "p.svg").getroot()
    assert "above" in "".join(drawn.itertext())


def test_plain_refuses_nothing() -> None:
    assert plain({"a": {1, 2}.__class__, "b": Path("x"), "c": float("nan")})["c"] == "nan"


def test_bounds_that_come_in_pairs_with_runs_have_their_colours() -> None:
    k = np.arange(3.0)
    curves = [Curve(f"{role} {i}", {"k": k}, k, role) for i in range(9) for role in ("run", "bound")]
    given = styles(replace(sample(), panels=(Panel("p", "P", "y", tuple(curves)),)))
    assert [given["bound", f"bound {i}"].color for i in range(9)] == [given["run", f"run {i}"].color for i in range(9)]
    assert len({given["run", f"run {i}"].color for i in range(9)}) == 8
    alone = styles(replace(sample(), panels=(Panel("p", "P", "y", (*curves[:3], curves[4])),)))
    assert alone["bound", "bound 0"].color is None  # whose it is nobody knows
