"""Variables keep their names on the way through every door: in the printed result and in what is written to disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.files import read_model_file, read_task
from tiebreak.files.write import record


def by_cvxpy(_: Path) -> tb.Result | None:
    cp = pytest.importorskip("cvxpy")
    from tiebreak.cvxpy import Lexicographic

    wind = cp.Variable(2, nonneg=True, name="wind")
    model = Lexicographic([cp.Minimize(cp.sum(wind)), cp.Minimize(cp.sum_squares(wind))], [cp.sum(wind) >= 2])
    model.solve()
    return model.result


def by_linopy(_: Path) -> tb.Result | None:
    linopy, pd = pytest.importorskip("linopy"), pytest.importorskip("pandas")
    import tiebreak.linopy

    model = linopy.Model()
    wind = model.add_variables(lower=0, coords=[pd.RangeIndex(2, name="hour")], name="wind")
    model.add_constraints(wind.sum() >= 2)
    model.add_objective(wind.sum())
    return tiebreak.linopy.solve(model, [((wind**2).sum(), "min")]).result


def by_sklearn(_: Path) -> tb.Result | None:
    pd = pytest.importorskip("pandas")
    from tiebreak.sklearn import MinNormRegressor

    table = pd.DataFrame([[1.0, 1.0], [2.0, 2.0]], columns=["wind[0]", "wind[1]"])
    return MinNormRegressor(fit_intercept=False).fit(table, [2.0, 4.0]).result_


def by_toml(folder: Path) -> tb.Result | None:
    (folder / "wind.toml").write_text(
        'upper = "SquaredNorm"\nnames = ["wind[0]", "wind[1]"]\n[lower]\ntype = "LeastSquares"\nA = [[1, 1]]\nb = [2]\n'
    )
    return read_task(folder / "wind.toml").run()  # type: ignore[return-value]


def by_mps(folder: Path) -> tb.Result | None:
    (folder / "wind.mps").write_text(
        "NAME\nROWS\n N cost\n G need\n"
        "COLUMNS\n wind[0] cost 1 need 1\n wind[1] cost 1 need 1\nRHS\n RHS need 2\nENDATA"
    )
    task = read_model_file(folder / "wind.mps", ["[ wind[0]^2 + wind[1]^2 ] / 2"])
    written = json.loads(json.dumps(record(task, found := task.run())))
    assert written["names"] == ["wind[0]", "wind[1]"]
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("door", [by_cvxpy, by_linopy, by_sklearn, by_toml, by_mps])
def test_names_are_printed_and_saved(door: Callable[[Path], tb.Result | None], tmp_path: Path) -> None:
    result = door(tmp_path)
    assert result is not None
    np.testing.assert_allclose(result.x, 1, atol=1e-9)
    assert "wind[0] = 1, wind[1] = 1" in repr(result)
    result.save(tmp_path / "found.npz")
    assert list(tb.Result.load(tmp_path / "found.npz").named or {}) == ["wind[0]", "wind[1]"]


def test_fluxes_have_the_names_of_reactions() -> None:
    pytest.importorskip("cobra")
    from cobra.io import load_model

    import tiebreak.cobra

    found = tiebreak.cobra.lexicographic_fba(load_model("textbook"), ["growth", "total_flux"])
    assert "ACALD = " in repr(found.result)
