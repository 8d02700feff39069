"""Fair classification: the authors' recorded runs, a wrong gradient that is wrong on purpose, the trade-off curve."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.experiments import download
from tiebreak.lab.experiments.fairness import AuthorsCovariance, accuracy, p_rule, problem, score_problem
from tiebreak.lab.experiments.people import FIELDS, People, diabetes_people, find, from_raw, read_adult
from tiebreak.lab.reproduce import fairness
from tiebreak.lab.reproduce.fairness_tradeoff import price_of, to_take
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.workshop import Workshop

FOLDER = os.environ.get("TIEBREAK_DATA")
needs_data = pytest.mark.skipif(FOLDER is None, reason="TIEBREAK_DATA names no folder with the Adult sample")

STEPS = tb.CGBiO(step=tb.steps.InverseSqrt(0.005), tol_upper=1e-4, tol_lower=1e-4)


@pytest.fixture(scope="module")
def adult() -> People:
    assert FOLDER is not None
    people = find(Path(FOLDER))
    assert people.paper == "authors"
    return people


@pytest.fixture(scope="module")
def theirs() -> dict[str, np.ndarray]:
    assert FOLDER is not None
    recorded = fairness.recorded(Path(FOLDER))
    assert recorded is not None
    return recorded


@needs_data
def test_initial_cg_ends_where_the_authors_did(adult: People, theirs: dict[str, np.ndarray]) -> None:
    start = fairness.start(adult, 10_001)
    assert start["steps"] == 10_001
    np.testing.assert_allclose(start["x"], theirs["x0"], rtol=0, atol=1e-8)
    # the right gradient from the computed start: f and g - g* after 5001 updates with an exact cut oracle
    run = fairness.cg_bio(adult, False, start["x"], 5001, False)
    assert run["f"][-1] == pytest.approx(2.5128e-4, rel=5e-3)
    assert run["g"][-1] - theirs["gstar"] == pytest.approx(1.59440e-2, rel=5e-3)
    assert (run["accuracy"][-1], round(float(run["p_rule"][-1]), 3)) == (0.831, 66.376)


@needs_data
@pytest.mark.parametrize(
    ("wrong", "f", "gap", "within"), [(False, 2.5128e-4, 1.59440e-2, 5e-3), (True, 2.9787e-4, 1.39942e-2, 1e-2)]
)
def test_cg_bio_from_the_authors_start(
    adult: People, theirs: dict[str, np.ndarray], wrong: bool, f: float, gap: float, within: float
) -> None:
    run = fairness.cg_bio(adult, wrong, theirs["x0"], 5001, False)
    assert run["updates"][-1] == 5001
    assert run["f"][-1] == pytest.approx(f, rel=within)
    assert run["g"][-1] - theirs["gstar"] == pytest.approx(gap, rel=within)


@needs_data
@pytest.mark.parametrize(
    ("name", "key", "updates"), [("DBGD", "dbgd", 20_000), ("a-IRG", "a_irg", 2000), ("BiG-SAM", "big_sam", 2000)]
)
def test_baselines_follow_the_authors(
    adult: People, theirs: dict[str, np.ndarray], name: str, key: str, updates: int
) -> None:
    k = theirs[f"{key}_k"]
    inside = (k > 0) & (k <= updates)
    run = fairness.baseline(adult, True, name, k[k <= updates])
    (found,) = np.nonzero(np.isin(run["updates"], k[inside]))
    assert len(found) == inside.sum() > 50
    for ours, recorded, star in (("g", "lower", theirs["gstar"]), ("f", "upper", 0.0)):
        expected = theirs[f"{key}_{recorded}"][inside]
        off = np.abs(run[ours][found] - expected) / np.maximum(expected - star, 1e-12)
        assert off.max() < 1e-4


def test_authors_gradient_is_wrong_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    A, v, x = rng.normal(size=(30, 4)), rng.integers(0, 2, 30).astype(float), rng.normal(size=4)
    wrong, right = AuthorsCovariance(A, v), tb.SquaredCovariance(A, v)
    t = A @ x
    c = (v - v.mean()) / 30 @ (1 / (1 + np.exp(-t)))
    assert wrong.value(x) == pytest.approx(c**2, rel=1e-12) == right.value(x)
    slope = 2 * c * ((v - v.mean()) / 30 / (2 * np.cosh(t))) @ A  # exp(-|t|) / (1 + exp(-2 |t|)) = 1 / (2 cosh t)
    np.testing.assert_allclose(wrong.grad(x), slope, rtol=1e-12)
    tb.check_gradient(right, x)
    with pytest.raises(tb.GradientError):
        tb.check_gradient(wrong, x)


def people_of(X: list[list[float]], y: list[int], sex: list[int]) -> People:
    rows = np.arange(len(y))
    return People(np.array(X), np.array(y, float), np.array(sex, float), ("a",), rows, rows, rows, "", "", len(y))


def test_measures_by_hand() -> None:
    """Three men, two of them chosen; two women, one chosen: 50 % of 66.7 %. A score of 0 is a refusal."""
    people = people_of([[1], [1], [-1], [1], [0]], [1, -1, -1, 1, 1], [1, 1, 1, 0, 0])
    rows, x = people.train, np.array([2.0])
    assert accuracy(people, rows, x) == pytest.approx(3 / 5)
    assert p_rule(people, rows, x) == pytest.approx(75.0)
    assert p_rule(people, rows, -x) == 0.0  # one man of three, no woman
    assert p_rule(people, rows, 0 * x) == 100.0


def test_price_is_proved_for_scores_and_kept_for_probabilities() -> None:
    people, slack = diabetes_people(), 0.005
    point = price_of(people, slack, rounds=2)
    convex, fair = score_problem(people), problem(people)
    X, y = people.X[people.train], people.y[people.train]
    z = cp.Variable(X.shape[1])
    loss = cp.sum(cp.logistic(cp.multiply(-y, X @ z))) / len(y)
    ball = cp.norm1(z) <= 100
    best = cp.Problem(cp.Minimize(loss), [ball]).solve(solver=cp.CLARABEL)
    c = convex.upper.A[0]
    reference = cp.Problem(cp.Minimize(cp.square(c @ z) / 2), [ball, loss <= best + slack]).solve(solver=cp.CLARABEL)
    low, high = point["score_bracket"]
    assert low - 1e-5 <= reference <= high + 1e-5
    assert high - low < 1e-5
    assert point["g"] <= best + slack + 1e-7
    assert fair.upper.value(point["x"]) == point["f"]
    scores = tb.solve(convex.with_slack(slack), "exact", tol_upper=1e-6, tol_lower=1e-7)
    assert point["f"] < 0.99 * fair.upper.value(scores.x)  # the rounds do something


def test_point_to_take() -> None:
    def curve(*rules: float) -> list[dict[str, np.ndarray]]:
        return [{"slack": np.array(i), "validation_p_rule": np.array(p)} for i, p in enumerate(rules)]

    assert to_take(curve(30, 82, 99, 85))["slack"] == 1
    assert to_take(curve(30, 70, 60))["slack"] == 1


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return fairness.run(Request(Workshop(tmp_path_factory.mktemp("kept")), size="quick"))


def test_offline_run_decides_nothing_about_the_paper_s_data(offline: Outcome) -> None:
    assert "diabetes" in offline.story[0] and "not the paper's data" in offline.story[0]
    assert len(offline.claims) == 6
    assert all(claim.holds is None and "not the paper's data" in claim.why for claim in offline.claims)


def test_panels(offline: Outcome) -> None:
    assert [panel.name for panel in offline.panels[:4]] == ["lower", "upper", "accuracy", "p-rule"]
    for panel in offline.panels[:4]:
        runs = [curve for curve in panel.curves if curve.role == "run"]
        assert [curve.label for curve in runs] == ["CG-BiO", "BiG-SAM", "a-IRG", "DBGD"]
        for curve in runs:
            assert list(curve.x) == ["seconds", "updates"]
            assert len(curve.y) == len(curve.x["updates"]) == len(curve.x["seconds"])
            assert np.isfinite(curve.y).all() and (np.diff(curve.x["seconds"]) >= 0).all()
    gaps = offline.panels[0].curves
    assert all((curve.y > 0).all() for curve in gaps)
    found, bound_below, bound_above = offline.panels[5].curves
    assert (bound_below.y <= found.y + 1e-6).all() and (found.y <= bound_above.y + 1e-6).all()


RAW = {
    "workclass": [
        "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay",
    ],
    "education": [
        "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th",
        "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool",
    ],
    "marital_status": [
        "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
        "Married-AF-spouse",
    ],
    "occupation": [
        "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
        "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving",
        "Priv-house-serv", "Protective-serv", "Armed-Forces",
    ],
    "relationship": ["Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"],
    "native_country": ["United-States", "Cuba", "India"],
    "race": ["White"],
    "sex": ["Male", "Female"],
    "income": ["<=50K", ">50K"],
}  # fmt: skip


def raw_line(i: int, end: str = "", **change: str) -> str:
    """A person whose values are the i-th of each list, round and round."""
    numbers = {"age": 20 + i % 40, "fnlwgt": 1, "education_num": 1 + i % 16, "capital_gain": 10 * i, "capital_loss": i}
    values = {name: RAW[name][i % len(RAW[name])] for name in RAW} | {"hours_per_week": 40 + i % 3} | numbers
    return ", ".join(str((values | change)[name]) for name in FIELDS) + end


def raw_files(folder: Path, people: int = 200) -> None:
    half = people // 2
    missing = [raw_line(0, workclass="?"), raw_line(1, occupation="?")]
    (folder / "adult.data").write_text("\n".join([*(raw_line(i) for i in range(half)), *missing]) + "\n\n")
    lines = ["|1x3 Cross validator", *(raw_line(i, ".") for i in range(half, people))]
    (folder / "adult.test").write_text("\n".join(lines) + "\n")


def test_raw_files(tmp_path: Path) -> None:
    raw_files(tmp_path)
    people = find(tmp_path, seed=1)
    assert people.paper == "raw" and people.subjects == 202
    assert people.X.shape == (200, 51) and len(people.columns) == 50
    assert (len(people.train), len(people.test), len(people.validation)) == (40, 20, 140)
    assert people.X.min() == 0 and people.X.max() == 1 and (people.X[:, -1] == 1).all()
    order = np.random.default_rng(1).permutation(200)
    column = dict(zip(people.columns, people.X.T, strict=False))
    np.testing.assert_array_equal(people.sex, order % 2 == 0)
    np.testing.assert_array_equal(people.y, np.where(order % 2 == 1, 1, -1))
    np.testing.assert_array_equal(column["education=high-school"], np.isin(order % 16, [2, 7, 9, 12]))
    np.testing.assert_array_equal(column["education=prim-middle-school"], np.isin(order % 16, [8, 11, 14, 15]))
    np.testing.assert_array_equal(column["native_country=United-States"], order % 3 == 0)
    np.testing.assert_allclose(column["capital_loss"], order / 199)
    assert not any(name.startswith(("sex", "race", "fnlwgt")) for name in people.columns)


@needs_data
def test_raw_files_give_the_authors_columns(tmp_path: Path, adult: People) -> None:
    raw_files(tmp_path)
    assert from_raw(tmp_path / "adult.data", tmp_path / "adult.test").columns == adult.columns


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("39, State-gov, 77516", "line 2: 15 values are wanted, there are 3"),
        (raw_line(0, income="50K"), "line 2: income must be >50K or <=50K, got '50K'"),
        (raw_line(0, age="old"), "line 2: age must be a number, got 'old'"),
    ],
)
def test_bad_raw_files(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "adult.data"
    path.write_text(f"{raw_line(0)}\n{line}\n")
    with pytest.raises(ValueError, match=message):
        read_adult(path)


def test_downloads_ask_pooch_for_the_checksum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[SimpleNamespace] = []

    def retrieve(**what: str) -> str:
        asked.append(SimpleNamespace(**what))
        return str(tmp_path / what["fname"])

    pooch = ModuleType("pooch")
    pooch.retrieve, pooch.os_cache = retrieve, lambda name: tmp_path  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pooch", pooch)
    raw_files(tmp_path)
    people = fairness._people(Request(Workshop(tmp_path), options={"download": True}))
    assert people.paper == "raw"
    assert [one.fname for one in asked] == ["adult.data", "adult.test"]
    assert all(one.known_hash == f"sha256:{remote.sha256}" for one, remote in zip(asked, download.ADULT, strict=True))
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'tiebreak\[data\]'"):
        download.fetch(download.ADULT[0])
