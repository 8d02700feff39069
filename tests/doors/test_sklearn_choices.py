"""Models chosen by validation data, by fairness, and by new data."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak.sklearn import FairClassifier, LifelongClassifier, SelectionClassifier, SelectionRegressor

RNG = np.random.default_rng(30)
WIDE, CHOICE = RNG.normal(size=(10, 15)), RNG.normal(size=(8, 15))
COEF = RNG.normal(size=15)
TARGETS, CHOICE_TARGETS = WIDE @ COEF + 1.0, CHOICE @ COEF + 1.0 + RNG.normal(size=8)

PEOPLE = RNG.normal(size=(150, 4))
GROUP = RNG.choice(["a", "b", "c"], size=150)
PEOPLE[:, 0] += GROUP == "a"
HIRED = (PEOPLE @ [1.0, 1.0, 0.0, -0.5] + 2 * RNG.normal(size=150) > 0.3).astype(int)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_selection_is_the_best_on_validation_rows_among_those_that_fit() -> None:
    model = SelectionRegressor().fit(WIDE, TARGETS, X_val=CHOICE, y_val=CHOICE_TARGETS)
    w, b = cp.Variable(15), cp.Variable()
    loss = cp.sum_squares(CHOICE @ w + b - CHOICE_TARGETS) / 16
    best = cp.Problem(cp.Minimize(loss), [WIDE @ w + b == TARGETS]).solve(solver=cp.CLARABEL)
    assert model.training_loss_ < 1e-20
    assert model.validation_loss_ == pytest.approx(best, rel=1e-6)
    assert model.result_.success


def test_a_splitter_chooses_the_same_rows() -> None:
    X, y = np.vstack([WIDE, CHOICE]), np.append(TARGETS, CHOICE_TARGETS)
    split = PredefinedSplit(np.repeat([-1, 0], [10, 8]))
    given = SelectionRegressor().fit(WIDE, TARGETS, X_val=CHOICE, y_val=CHOICE_TARGETS)
    assert np.allclose(SelectionRegressor(validation=split).fit(X, y).coef_, given.coef_, atol=1e-9)
    share = SelectionRegressor(validation=0.5, random_state=0).fit(X, y)
    assert share.training_loss_ < 1e-20 < share.validation_loss_  # 16 variables: nine rows are met, and most others
    with pytest.raises(ValueError, match="makes 3"):
        SelectionRegressor(validation=KFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="validation must be a share"):
        SelectionRegressor(validation="half").fit(X, y)
    with pytest.raises(ValueError, match="go together"):
        SelectionRegressor().fit(X, y, X_val=X)


def test_slack_buys_validation_loss() -> None:
    X, y = PEOPLE, PEOPLE @ [1.0, 2.0, 3.0, 4.0] + RNG.normal(size=150)
    held_out = {"X_val": PEOPLE[:20] + 0.1, "y_val": PEOPLE[:20] @ [2.0, 2.0, 2.0, 2.0]}
    strict, loose = (SelectionRegressor(slack=slack).fit(X, y, **held_out) for slack in (0.0, 0.1))
    assert loose.validation_loss_ < 0.9 * strict.validation_loss_
    assert loose.training_loss_ <= 1.1 * strict.training_loss_
    assert loose.result_.success


def test_selection_of_classifiers_takes_one_class_to_choose_by() -> None:
    X, y = [[1.0, 1.1], [-1.2, -0.9]], ["yes", "no"]
    model = SelectionClassifier("squared_hinge").fit(X, y, X_val=[[2.0, -1.0]], y_val=["no"])
    assert model.validation_loss_ < 1e-9
    assert model.predict([[2.0, -1.0], [1.0, 1.1]]).tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="not there before: maybe"):
        model.fit(X, y, X_val=[[2.0, -1.0]], y_val=["maybe"])


def test_metadata_routing_of_validation_rows(routing: None) -> None:
    model = SelectionRegressor().set_fit_request(X_val=True, y_val=True)
    pipe = make_pipeline(StandardScaler(), model, transform_input=["X_val"])
    pipe.fit(WIDE, TARGETS, X_val=CHOICE, y_val=CHOICE_TARGETS)
    scale = StandardScaler().fit(WIDE)
    alone = SelectionRegressor().fit(
        scale.transform(WIDE), TARGETS, X_val=scale.transform(CHOICE), y_val=CHOICE_TARGETS
    )
    assert np.allclose(pipe[-1].coef_, alone.coef_)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_fairness_within_the_slack(loss: str) -> None:
    sizes = []
    for slack in (0.001, 0.01, 0.05):
        model = FairClassifier(slack, loss=loss).fit(PEOPLE, HIRED, sensitive_features=GROUP)
        assert model.result_.success
        assert model.loss_ <= (1 + slack) * model.best_loss_ * (1 + 1e-9)
        assert list(model.covariances_) == ["sensitive=a", "sensitive=b", "sensitive=c"]
        indicator = (GROUP == "b") - np.mean(GROUP == "b")
        assert model.covariances_["sensitive=b"] == pytest.approx(np.mean(indicator * model.decision_function(PEOPLE)))
        sizes.append(np.linalg.norm(list(model.covariances_.values())))
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_fairness_is_that_of_a_conic_solver() -> None:
    model = FairClassifier(0.01, C=0.5).fit(PEOPLE, HIRED, sensitive_features=GROUP)
    w, b, signs = cp.Variable(4), cp.Variable(), 2.0 * HIRED - 1
    scores = PEOPLE @ w + b
    loss = cp.sum(cp.logistic(-cp.multiply(signs, scores))) / 150 + cp.sum_squares(w) / 150
    groups = np.array([group - np.mean(group) for group in (GROUP == "a", GROUP == "b", GROUP == "c")])
    limit = 1.01 * cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    unfair = cp.sum_squares((groups @ PEOPLE / 150) @ w)
    best = cp.Problem(cp.Minimize(unfair), [loss <= limit]).solve(solver=cp.CLARABEL)
    assert sum(value**2 for value in model.covariances_.values()) == pytest.approx(best, rel=1e-3)


def test_with_enough_slack_scores_do_not_vary_at_all_and_the_loss_is_the_least_of_those() -> None:
    generous, more = (FairClassifier(slack).fit(PEOPLE, HIRED, sensitive_features=GROUP == "a") for slack in (0.5, 0.9))
    assert abs(generous.covariances_["sensitive=True"]) < 1e-9
    assert generous.loss_ == pytest.approx(more.loss_, abs=1e-9)
    assert generous.loss_ < 1.4 * generous.best_loss_


def test_fairness_has_no_say_at_slack_zero() -> None:
    with pytest.warns(UserWarning, match="no say at slack 0"):
        model = FairClassifier(0.0).fit(PEOPLE, HIRED, sensitive_features=GROUP)
    assert model.has_say_ is False
    with pytest.warns(UserWarning, match="no sensitive_features"):
        plain = FairClassifier().fit(PEOPLE, HIRED)
    assert np.allclose(model.coef_, plain.coef_, atol=1e-6)
    theirs = LogisticRegression(tol=1e-10).fit(PEOPLE, HIRED)
    assert np.allclose(model.coef_, theirs.coef_, atol=1e-4)


def test_the_curve_of_fairness_over_loss() -> None:
    model = FairClassifier(0.01, tradeoff=[0.001, 0.01, 0.03]).fit(PEOPLE, HIRED, sensitive_features=GROUP)
    assert model.tradeoff_.proved.all()
    assert (np.diff(model.tradeoff_.f) < 0).all()
    here = sum(value**2 for value in model.covariances_.values()) / 2
    assert model.tradeoff_.f[1] == pytest.approx(here, rel=1e-4)
    assert model.tradeoff_.plot() is not None


def test_sensitive_features_of_several_kinds() -> None:
    frame = pd.DataFrame({"age": RNG.uniform(20, 60, 150), "sex": RNG.choice(["f", "m"], 150), "group": GROUP})
    model = FairClassifier(0.02, loss="squared").fit(PEOPLE, HIRED, sensitive_features=frame)
    assert list(model.covariances_) == ["age", "sex=m", "group=a", "group=b", "group=c"]
    weights = np.where(np.arange(150) < 100, 1.0, 0.0)
    left_out = FairClassifier(loss="squared").fit(PEOPLE, HIRED, sample_weight=weights, sensitive_features=GROUP)
    gone = FairClassifier(loss="squared").fit(PEOPLE[:100], HIRED[:100], sensitive_features=GROUP[:100])
    assert np.allclose(left_out.coef_, gone.coef_, atol=1e-7)
    with pytest.raises(ValueError, match="one entry for each of the 150 rows"):
        model.fit(PEOPLE, HIRED, sensitive_features=GROUP[:9])
    with pytest.raises(ValueError, match="same in every row"):
        model.fit(PEOPLE, HIRED, sensitive_features=["a"] * 150)


def test_metadata_routing_of_sensitive_features(routing: None) -> None:
    model = FairClassifier(loss="squared").set_fit_request(sensitive_features=True)
    pipe = make_pipeline(StandardScaler(), model).fit(PEOPLE, HIRED, sensitive_features=GROUP)
    assert pipe[-1].covariances_


def test_lifelong_keeps_what_it_knew() -> None:
    model = LifelongClassifier(slack=0.02)
    for batch in range(3):
        rows = slice(50 * batch, 50 * batch + 50)
        model.partial_fit(PEOPLE[rows], HIRED[rows], classes=[0, 1])
        assert model.result_.success
        if batch:
            best = LifelongClassifier().fit(PEOPLE[: rows.start], HIRED[: rows.start]).new_loss_
            assert model.old_loss_ <= 1.02 * best * (1 + 1e-9)
            assert model.new_loss_ < model.result_.f + 1e-9
    assert model.remembered_ == 150


def test_lifelong_learns_where_there_is_room() -> None:
    old, new = RNG.normal(size=(6, 20)), RNG.normal(size=(6, 20))
    y = np.array([0, 1, 0, 1, 0, 1])
    model = LifelongClassifier(memory=4, random_state=0).fit(old, y).partial_fit(new, y)
    assert model.old_loss_ < 1e-12
    assert model.score(new, y) == 1.0
    assert model.remembered_ == 8
    model.partial_fit(RNG.normal(size=(2, 20)), [1, 1])  # one class alone
    assert model.old_loss_ < 1e-12
    with pytest.raises(ValueError, match="not there before: 2"):
        model.partial_fit(new, y + 1)
    with pytest.raises(ValueError, match="not those of the first batch"):
        model.partial_fit(new, y, classes=[0, 2])
