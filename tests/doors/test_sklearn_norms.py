"""The smallest models among the best: against closed forms and other solvers."""

from __future__ import annotations

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from tiebreak.sklearn import MinNormClassifier, MinNormRegressor

RNG = np.random.default_rng(20)
WIDE = RNG.normal(size=(12, 30))
TARGETS = WIDE @ RNG.normal(size=30) + 5.0


def least_norm(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """By the pseudo-inverse of the centred data, with a tolerance that sees its missing rank."""
    w = np.ones(len(y)) if weights is None else weights
    share, root = w / w.sum(), np.sqrt(w)[:, None]
    centred = root * (X - share @ X)
    return np.linalg.pinv(centred, rcond=1e-10) @ (root[:, 0] * (y - share @ y))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_squared_loss_is_the_centred_pseudo_inverse(form: type) -> None:
    model = MinNormRegressor().fit(form(WIDE), TARGETS)
    coef = least_norm(WIDE, TARGETS)
    assert np.allclose(model.coef_, coef, rtol=0, atol=1e-10)
    assert model.intercept_ == pytest.approx(np.mean(TARGETS - WIDE @ coef), abs=1e-9)
    assert model.result_.success
    assert model.result_.certificate.two_sided
    assert np.allclose(model.predict(form(WIDE)), TARGETS)


def test_sample_weights_count_in_the_loss() -> None:
    X = np.hstack([WIDE[:, :4], WIDE[:, :2]])  # two features twice: ties, and rows that cannot all be met
    weights = RNG.uniform(0.5, 3.0, size=12)
    model = MinNormRegressor().fit(X, TARGETS, sample_weight=weights)
    assert np.allclose(model.coef_, least_norm(X, TARGETS, weights), rtol=0, atol=1e-9)
    assert not np.allclose(model.coef_, least_norm(X, TARGETS), atol=1e-3)
    weights[3] = 0.0
    rest = np.arange(12) != 3
    model.fit(X, TARGETS, sample_weight=weights)
    assert np.allclose(model.coef_, least_norm(X[rest], TARGETS[rest], weights[rest]), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, TARGETS, sample_weight=np.zeros(12))


def test_the_intercept_may_count_or_be_left_out() -> None:
    counted = MinNormRegressor(penalize_intercept=True).fit(WIDE, TARGETS)
    full = np.linalg.pinv(np.hstack([WIDE, np.ones((12, 1))])) @ TARGETS
    assert np.allclose([*counted.coef_, counted.intercept_], full, rtol=0, atol=1e-10)
    without = MinNormRegressor(fit_intercept=False).fit(WIDE, TARGETS)
    assert np.allclose(without.coef_, np.linalg.pinv(WIDE) @ TARGETS, rtol=0, atol=1e-10)
    assert without.intercept_ == 0.0


def test_l1_norm_is_that_of_the_linear_programme() -> None:
    model = MinNormRegressor(norm="l1").fit(WIDE, TARGETS)
    ones = np.ones((12, 1))
    bounds = [(0, None)] * 60 + [(None, None)]
    cost = np.append(np.ones(60), 0.0)
    best = linprog(cost, A_eq=np.hstack([WIDE, -WIDE, ones]), b_eq=TARGETS, bounds=bounds)
    assert np.abs(model.coef_).sum() == pytest.approx(best.fun, rel=1e-8)
    assert np.allclose(model.predict(WIDE), TARGETS)


def test_positive_has_the_least_norm_which_nonnegative_least_squares_has_not() -> None:
    y = WIDE @ np.abs(RNG.normal(size=30)) - 3.0
    model = MinNormRegressor(positive=True).fit(WIDE, y)
    w, b = cp.Variable(30), cp.Variable()
    best = cp.Problem(cp.Minimize(cp.sum_squares(w)), [WIDE @ w + b == y, w >= 0]).solve(solver=cp.CLARABEL)
    assert model.coef_ @ model.coef_ == pytest.approx(best, rel=1e-6)
    assert model.coef_.min() >= 0
    theirs = LinearRegression(positive=True).fit(WIDE, y).coef_
    assert theirs @ theirs > 1.2 * best


def test_poisson_meets_every_count_with_the_least_norm() -> None:
    counts = RNG.integers(1, 6, size=12)
    model = MinNormRegressor("poisson").fit(WIDE, counts)
    assert np.allclose(model.predict(WIDE), counts, rtol=1e-6)
    assert np.allclose(model.coef_, least_norm(WIDE, np.log(counts)), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="y >= 0"):
        model.fit(WIDE, -counts)


def test_huber_does_not_follow_an_outlier() -> None:
    x = np.linspace(-1.0, 1.0, 21)
    X, y = np.column_stack([x, x]), 2 * x + 1.0 + 0.2 * RNG.normal(size=21)
    y[4] += 100.0
    model = MinNormRegressor("huber", delta=0.1).fit(X, y)
    assert np.allclose(model.coef_, [1.0, 1.0], atol=0.2)
    assert model.intercept_ == pytest.approx(1.0, abs=0.2)


def test_squared_hinge_has_the_widest_margin() -> None:
    X = RNG.normal(size=(30, 4))
    y = np.where(X @ [1.0, -2.0, 0.5, 0.0] > 0.2, "above", "below")
    model = MinNormClassifier().fit(X, y)
    machine = SVC(kernel="linear", C=1e7, tol=1e-8).fit(X, y)
    assert np.allclose(model.coef_, machine.coef_, atol=1e-3 * np.abs(machine.coef_).max())
    assert np.abs(model.decision_function(X)).min() == pytest.approx(1.0, abs=1e-6)
    assert model.score(X, y) == 1.0
    assert not hasattr(model, "predict_proba")


def test_logistic_shares_what_two_equal_features_say() -> None:
    X = RNG.normal(size=(60, 3))
    y = (X @ [1.0, -1.0, 0.5] + 2 * RNG.normal(size=60) > 0).astype(int)
    model = MinNormClassifier("logistic").fit(np.hstack([X, X[:, :1]]), y)
    alone = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    first = alone.coef_[0]
    assert np.allclose(model.coef_[0], [first[0] / 2, first[1], first[2], first[0] / 2], atol=1e-4)
    assert np.allclose(model.predict_proba(np.hstack([X, X[:, :1]])), alone.predict_proba(X), atol=1e-4)


def test_a_loss_without_a_minimum_is_said_to_have_none() -> None:
    with pytest.warns(ConvergenceWarning, match="not proved"):
        model = MinNormClassifier("logistic", max_time=5).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert not model.result_.success
    assert model.score([[0.0], [3.0]], [0, 1]) == 1.0


def test_names_of_features_reach_the_result() -> None:
    frame = pd.DataFrame(WIDE[:, :3], columns=["age", "intercept", "income"])
    model = MinNormRegressor().fit(frame, TARGETS)
    named = model.result_.named
    assert named is not None
    assert list(named) == ["age", "intercept", "income", "intercept_"]
    assert named["intercept_"] == model.intercept_
    assert MinNormRegressor().fit(WIDE, TARGETS).result_.named is None


def test_several_classes_one_against_the_rest() -> None:
    X = np.vstack([RNG.normal(size=(10, 2)) + 6 * np.array(centre) for centre in ([0, 0], [1, 0], [0, 1])])
    y = np.repeat([0, 1, 2], 10)
    assert OneVsRestClassifier(MinNormClassifier("squared")).fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        MinNormClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"loss": "hinge"}, "loss must be one of"), ({"norm": "l0"}, "norm must be"), ({"tol": -1.0}, "tol must be")],
)
def test_wrong_parameters_are_named(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        MinNormRegressor(**wrong).fit(WIDE, TARGETS)


def test_without_scikit_learn_the_pip_line_is_named() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import tiebreak.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'tiebreak[sklearn]'" in done.stderr


def test_callbacks_of_scikit_learn_see_fits_runs_and_looks_and_can_end_a_run() -> None:
    pytest.importorskip("sklearn.callback")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), rng.normal(size=20)

    class Seen:
        def __init__(self, stops: bool) -> None:
            self.tasks: list[str] = []
            self.stops = stops

        def setup(self, estimator, context) -> None:
            self.tasks.append("setup")

        def teardown(self, estimator, context) -> None:
            self.tasks.append("teardown")

        def on_fit_task_begin(self, estimator, context) -> None:
            self.tasks.append(context.task_name)

        def on_fit_task_end(self, estimator, context) -> bool:
            return self.stops

    seen = Seen(False)
    model = MinNormRegressor().set_callbacks(seen).fit(X, y)
    assert model.result_.success
    assert seen.tasks[:3] == ["setup", "fit", "solve"]
    assert seen.tasks[-1] == "teardown"
    assert any(task.startswith("update") for task in seen.tasks)
    with pytest.warns(ConvergenceWarning, match="stopped") as warned:
        MinNormRegressor().set_callbacks(Seen(True)).fit(X, y)
    assert warned[0].filename == __file__
