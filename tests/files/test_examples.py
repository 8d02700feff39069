"""Every example converges, agrees with an independent solution, and can be read back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_references import GAPS, REFERENCES

import tiebreak as tb
from tiebreak.cli import main
from tiebreak.files import read_task
from tiebreak.files.catalogue import classes
from tiebreak.objectives import Objective
from tiebreak.sets import Domain

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
FILES = sorted(EXAMPLES.glob("*.toml"))
OTHERS = {"chain", "tradeoff"}  # tested below: they have no single pair (f*, g*)


def solved(name: str, tmp_path: Path) -> dict[str, Any]:
    assert main(["solve", str(EXAMPLES / f"{name}.toml"), "--out", str(tmp_path / name)]) == 0
    written: dict[str, Any] = json.loads((tmp_path / f"{name}.json").read_text())
    return written


def test_there_is_a_reference_for_every_file() -> None:
    assert {file.stem for file in FILES} == set(REFERENCES) | OTHERS


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_example_agrees_with_its_reference(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = solved(name, tmp_path)
    out = capsys.readouterr().out
    assert "f* in [" in out and "g* in [" in out and written["message"] in out

    f_star, g_star = REFERENCES[name]()
    c, limits = written["certificate"], written["limits"]
    noise = 1e-7 * (1 + abs(f_star))  # of the reference
    assert written["g"] - g_star <= limits["tol_lower"] + noise
    assert float(c["g_lower"]) <= g_star + noise and g_star <= float(c["g_upper"]) + noise
    assert written["f"] - f_star <= limits["tol_upper"] + noise
    if name in GAPS:
        assert GAPS[name](np.array(written["x"])) <= c["stationarity"] + noise
    assert float(c["f_lower"]) <= f_star + noise and f_star <= float(c["f_upper"]) + noise
    if written["method"] == "exact":
        assert written["f"] == pytest.approx(f_star, abs=1e-7, rel=1e-7)

    result = tb.Result.load(tmp_path / f"{name}.npz")
    assert result.x.tolist() == written["x"] and result.message == written["message"]
    assert result.status == written["status"] == "converged"
    problem = read_task(EXAMPLES / f"{name}.toml").problem
    assert problem is not None
    assert problem.domain.contains(result.x)
    assert problem.upper.value(result.x) == pytest.approx(written["f"], abs=1e-12)


def test_chain(tmp_path: Path) -> None:
    written = solved("chain", tmp_path)
    np.testing.assert_allclose(written["x"], [1, 1, 0], atol=1e-9)
    assert [round(level["value"], 9) for level in written["levels"]] == [-2, 2, 1]
    result = tb.Result.load(tmp_path / "chain.npz")
    assert result.x.tolist() == written["x"] and [level.value for level in result.levels] == [-2, 2, 1]


def test_tradeoff(tmp_path: Path) -> None:
    written = solved("tradeoff", tmp_path)
    eps = np.array([0.005, 0.02, 0.08])
    curve = {name: np.array(values) for name, values in written["tradeoff"].items()}
    v = (1 - np.sqrt(2 * eps)) ** 2 / 4
    np.testing.assert_allclose(curve["f"], v, atol=1e-6)
    assert (curve["f_lower"] <= v + 1e-12).all() and (v <= curve["f_upper"] + 1e-12).all()
    with np.load(tmp_path / "tradeoff.npz") as arrays:
        np.testing.assert_allclose(arrays["x"].sum(axis=1), 1 - np.sqrt(2 * eps), atol=1e-5)


def test_every_objective_and_set_has_an_example() -> None:
    used = set(re.findall(r'(?:type|upper|lower|domain) = "(\w+)"', "".join(file.read_text() for file in FILES)))
    missing = {*classes(Objective), *classes(Domain)} - used
    assert not missing, f"write an example in {EXAMPLES.name}/ (and its row in README.md) for {sorted(missing)}"


def test_readme_has_a_row_for_every_example() -> None:
    page = (EXAMPLES / "README.md").read_text()
    for file in FILES:
        assert f"]({file.name})" in page, file.name
        assert file.read_text().startswith("# "), f"{file.name} must begin with what it asks"


def test_data_is_what_the_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import runpy

    script = runpy.run_path(str(EXAMPLES / "make_data.py"))
    monkeypatch.setitem(script["write_csv"].__globals__, "DATA", tmp_path)
    script["make_all"]()
    made = sorted(tmp_path.iterdir())
    assert len(made) >= 10
    for file in made:
        ours = EXAMPLES / "data" / file.name
        if file.suffix == ".csv":
            assert file.read_text() == ours.read_text(), file.name
        else:
            with np.load(file) as new, np.load(ours) as old:
                assert new.files == old.files
                for key in new.files:  # products differ in the last digit from one BLAS to the next
                    same = np.testing.assert_allclose if new[key].dtype.kind == "f" else np.testing.assert_array_equal
                    same(new[key], old[key])


@pytest.mark.parametrize("domain", ["", '[domain]\ntype = "Box"\nlower = [0, -inf]\nupper = [inf, inf]\n'])
def test_a_file_without_a_domain_or_without_bounds(domain: str, tmp_path: Path) -> None:
    """Without the table, the whole space; ends may be inf."""
    file = tmp_path / "open.toml"
    levels = 'upper = "SquaredNorm"\n[lower]\ntype = "LeastSquares"\nA = [[1, 1]]\nb = [1]\n'
    file.write_text(levels + domain)
    problem = read_task(file).problem
    assert problem is not None and not problem.domain.bounded
    np.testing.assert_allclose(tb.solve(problem).x, [0.5, 0.5])
