"""scikit-learn's own checks of an estimator, for each of ours."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tiebreak.sklearn import (
    FairClassifier,
    LifelongClassifier,
    MinNormClassifier,
    MinNormRegressor,
    SelectionClassifier,
    SelectionRegressor,
)

ESTIMATORS = [
    MinNormRegressor(),
    MinNormRegressor("poisson"),
    MinNormClassifier(),
    SelectionRegressor(),
    SelectionClassifier(),
    FairClassifier(),
    LifelongClassifier(),
]

SPLITS = "rows are drawn to be held out: a row of weight 2 is held out as one, two rows are not"


def expected_to_fail(estimator: Any) -> dict[str, str]:
    """What cannot hold, and why."""
    if isinstance(estimator, SelectionClassifier):
        names = "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"
        return dict.fromkeys(names, SPLITS)
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # classes that can be separated
@pytest.mark.filterwarnings("ignore:no sensitive_features:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_checks(estimator: Any, check: Any) -> None:
    estimator.set_params(max_time=5.0)
    check(estimator)
