"""The linopy door: answers against rational arithmetic and HiGHS, prices, names, statuses, and sentences."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rational_references import chain, linear, quadratic

import tiebreak as tb

linopy = pytest.importorskip("linopy", reason="linopy is not installed: pip install 'tiebreak[linopy]'")
import pandas as pd  # noqa: E402
import xarray as xr  # noqa: E402

import tiebreak.linopy as door  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Variable 'x' has absent slots")


def model_of(A: np.ndarray, low: np.ndarray, high: np.ndarray, ends: tuple[float, float], c: np.ndarray, sense: str):
    """low <= A x <= high (equations where they are the same) in a box, with a linear objective."""
    model = linopy.Model()
    index = pd.RangeIndex(A.shape[1], name="unit")
    x = model.add_variables(lower=ends[0], upper=ends[1], coords=[index], name="x")
    for i, row in enumerate(A):
        image = (xr.DataArray(row, coords=[index]) * x).sum()
        if low[i] == high[i]:
            model.add_constraints(image == high[i], name=f"row{i}")
        elif np.isfinite(low[i]):
            model.add_constraints(image >= low[i], name=f"row{i}")
        else:
            model.add_constraints(image <= high[i], name=f"row{i}")
    model.add_objective((xr.DataArray(c, coords=[index]) * x).sum(), sense=sense)
    return model, x, index


@pytest.mark.parametrize("seed", range(8))
def test_three_levels_agree_with_fractions(seed: int) -> None:
    """Ties everywhere: integers of one digit, minimised and maximised, with equations and inequalities."""
    rng = np.random.default_rng([7, seed])
    n, m = 3, 2
    A = rng.integers(-1, 3, (m, n)).astype(float)
    inside = rng.integers(0, 3, n)
    at = A @ inside
    kind = rng.integers(0, 3, m)
    low = np.where(kind == 0, -np.inf, at)
    high = np.where(kind == 1, np.inf, at)
    c, d = rng.integers(0, 3, n).astype(float), rng.integers(-1, 2, n).astype(float)
    B = rng.integers(-1, 2, (2, n)).astype(float)
    senses = [("min", "max")[k] for k in rng.integers(0, 2, 2)]
    model, x, index = model_of(A, low, high, (0.0, 3.0), c, senses[0])
    second = (xr.DataArray(d, coords=[index]) * x).sum()
    H, q = B.T @ B, -2 * B.T @ np.ones(2)
    one = [x.isel(unit=j, drop=True) for j in range(n)]
    third = (
        sum(H[i, j] * one[i] * one[j] for i in range(n) for j in range(n)) + (xr.DataArray(q, coords=[index]) * x).sum()
    )
    solved = door.solve(model, then=[(second, senses[1]), (third, "min")], tol_upper=1e-7, tol_lower=1e-7)
    turns = [1.0 if one == "min" else -1.0 for one in senses]
    forms = [linear(turns[0] * c), linear(turns[1] * d), quadratic(2 * H, q)]
    reach = np.abs(A).sum(axis=1) * 3.0
    truth = chain(forms, np.zeros(n), np.full(n, 3.0), A, np.maximum(low, -reach), np.minimum(high, reach))
    assert (solved.status, solved.condition) == ("ok", "optimal") == (model.status, model.termination_condition)
    stars = [turns[0] * truth[0].value, turns[1] * truth[1].value, truth[2].value]
    for k, star in enumerate(map(Fraction, stars)):
        row = solved.levels.iloc[k]
        assert Fraction(row["lower"]) <= star <= Fraction(row["upper"])
        assert row["value"] == pytest.approx(float(star), abs=1e-7)
    assert model.objective.value == solved.levels["value"].iloc[0]


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("seed", range(4))
def test_prices_are_those_of_the_first_solve(sense: str, seed: int) -> None:
    """Rows of all kinds whose multipliers are unique: those that HiGHS gives for the first objective alone."""
    rng = np.random.default_rng([8, seed])
    n, m = 12, 5
    A, inside = rng.standard_normal((m, n)), rng.uniform(0.2, 1.8, n)
    low = np.where(np.arange(m) % 3 == 1, -np.inf, A @ inside)
    high = np.where(np.arange(m) % 3 == 2, np.inf, A @ inside)
    c = rng.standard_normal(n)
    c[1], A[:, 1] = c[0], A[:, 0]  # two units that are alike: a tie
    model, x, _ = model_of(A, low, high, (0.0, 2.0), c, sense)
    model.solve("highs", output_flag=False)
    prices, best = model.dual.copy(deep=True), model.objective.value
    solved = door.solve(model, then=[((x**2).sum(), "min")])
    assert solved.condition == "optimal"
    assert model.objective.value == pytest.approx(best, rel=1e-9)
    assert set(model.dual) == set(prices)
    for name in prices:
        np.testing.assert_allclose(model.dual[name], prices[name], atol=1e-8)
    assert np.ptp(model.solution["x"].values[:2]) < 1e-8


def tied(cost: float = 1.0):
    model = linopy.Model()
    hours = pd.Index(["a", "b", "c"], name="hour")
    keep = xr.DataArray([True, True, False], coords=[hours])
    x = model.add_variables(lower=0, upper=4, coords=[hours], name="x", mask=keep)
    y = model.add_variables(lower=0, upper=9, name="y")
    model.add_constraints(x.sum() + y >= 6, name="demand")
    model.add_constraints(x <= 3.5, name="cap", mask=keep)
    model.add_objective(cost * (x.sum() + y))
    return model, x, y


def test_masks_names_and_the_model_after_it() -> None:
    """What a mask leaves out has no name, no value and no price."""
    model, x, y = tied()
    solved = door.solve(model, then=[(y, "max"), ((x**2).sum(), "min")])
    assert solved.result.named == {"x[a]": 0.0, "x[b]": 0.0, "y": 6.0}
    np.testing.assert_array_equal(model.solution["x"], [0.0, 0.0, np.nan])
    assert float(model.dual["demand"]) == 1.0
    np.testing.assert_array_equal(model.dual["cap"], [0.0, 0.0, np.nan])
    assert list(solved.levels["sense"]) == ["min", "max", "min"]
    assert tuple(solved) == ("ok", "optimal")


def test_slack_of_the_first_level() -> None:
    """Half a unit more of cost may be spent; prices stay those of the cost itself."""
    model, x, y = tied()
    solved = door.solve(model, then=[(x.sum() + 2 * y, "max")], slack=0.5)
    assert solved.condition == "optimal"
    assert solved.levels["value"].tolist() == pytest.approx([6.5, 13.0], abs=1e-6)
    assert float(model.dual["demand"]) == pytest.approx(1.0)


def test_statuses_in_linopys_words() -> None:
    """Infeasible and unbounded models keep no values from an earlier solve."""
    model, _, y = tied()
    door.solve(model)
    assert model.solution["y"].notnull()
    model.add_constraints(y >= 10, name="too much")
    assert tuple(door.solve(model)) == ("warning", "infeasible") == (model.status, model.termination_condition)
    assert model.objective.value is None or np.isnan(model.objective.value)
    with pytest.raises(AttributeError):
        model.solution  # noqa: B018
    other = linopy.Model()
    z = other.add_variables(lower=0, name="z")
    w = other.add_variables(lower=0, upper=1, name="w")
    other.add_constraints(z + w >= 1, name="some")
    other.add_objective(1 * w)
    assert tuple(door.solve(other, then=[(z, "max")])) == ("warning", "unbounded")


def test_alternatives_within_a_part_of_the_cost() -> None:
    """Closed form: moving a unit from wind to gas costs 1, of 40."""
    model = linopy.Model()
    wind, gas = (model.add_variables(lower=0, name=name) for name in ("wind", "gas"))
    model.add_constraints(wind + gas >= 10, name="served")
    model.add_objective(4 * wind + 5 * gas)
    parts = np.array([0.01, 0.05, 0.2])
    found = door.tradeoff(model, gas, "max", relative_slacks=list(parts))
    assert found.table["proved"].all()
    assert (found.table["lower"] <= 40 * parts + 1e-12).all() and (found.table["upper"] >= 40 * parts - 1e-12).all()
    np.testing.assert_allclose(found.table["value"], 40 * parts, rtol=1e-6)
    assert (found.table["cost"] <= 40 * (1 + parts) + 1e-12).all()
    assert found.solution["wind"].dims == ("slack",)
    assert model.status == "initialized"
    with pytest.raises(ValueError, match="not both"):
        door.tradeoff(model, gas, slacks=[1.0], relative_slacks=[0.1])


def test_sentences() -> None:
    """What cannot be taken is refused, each in a sentence."""
    model, x, y = tied()
    with pytest.raises(ValueError, match="not concave"):
        door.solve(model, then=[((x**2).sum(), "max")])
    with pytest.raises(ValueError, match='"min" or "max"'):
        door.solve(model, then=[(y, "least")])
    with pytest.raises(TypeError, match="pair"):
        door.solve(model, then=[y])
    with pytest.raises(TypeError, match="expression of linopy"):
        door.solve(model, then=[(3.0, "min")])
    with pytest.raises(ValueError, match="another model"):
        door.solve(model, then=[(tied()[2], "min")])
    with pytest.raises(TypeError, match=r"linopy\.Model"):
        door.solve(tb)
    model.add_variables(binary=True, name="on")
    with pytest.raises(ValueError, match=r"on \(binary\)"):
        door.solve(model)
    scaled, _, _ = tied()
    scaled.objective.scaling = 3.0
    with pytest.raises(ValueError, match="scaling factors"):
        door.solve(scaled)
