"""The estimators for scikit-learn on dask arrays and frames: the models of the same rows in memory."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

import tiebreak.dask as td

pytest.importorskip("sklearn")

from tiebreak.sklearn import (
    FairClassifier,
    MinNormClassifier,
    MinNormRegressor,
    SelectionClassifier,
    SelectionRegressor,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 5))
X[:, 4] = X[:, 0]
y = X @ [1.0, -1.0, 0.5, 0.0, 1.0] + rng.standard_normal(300)
V = rng.standard_normal((100, 5))
v = V @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.standard_normal(100)
classes, of_v = np.where(y > 0, 3, 1), np.where(v > 0, 3, 1)
far_X, far_V = da.from_array(X, chunks=(80, 5)), da.from_array(V, chunks=(60, 5))
far_y, far_v, far_classes = da.from_array(y, chunks=80), da.from_array(v, chunks=60), da.from_array(classes, chunks=70)


def same(far: object, near: object) -> None:
    np.testing.assert_allclose(np.ravel(far.coef_), np.ravel(near.coef_), rtol=1e-9, atol=1e-10)  # type: ignore[attr-defined]
    np.testing.assert_allclose(far.intercept_, near.intercept_, rtol=1e-9, atol=1e-10)  # type: ignore[attr-defined]
    assert far.result_.success  # type: ignore[attr-defined]


def test_regression() -> None:
    near, far = MinNormRegressor().fit(X, y), MinNormRegressor().fit(far_X, far_y)
    same(far, near)
    assert any("data in chunks" in note for note in far.result_.notes)
    predicted = far.predict(far_X)
    assert isinstance(predicted, da.Array)
    np.testing.assert_allclose(predicted.compute(scheduler="synchronous"), near.predict(X), rtol=1e-9)
    weights = rng.integers(0, 3, 300).astype(float)
    same(MinNormRegressor(positive=True).fit(far_X, y, weights), MinNormRegressor(positive=True).fit(X, y, weights))
    same(
        MinNormRegressor(fit_intercept=False).fit(td.chunked(X, chunk_rows=70), y),
        MinNormRegressor(fit_intercept=False).fit(X, y),
    )


def test_classification() -> None:
    near, far = MinNormClassifier("squared").fit(X, classes), MinNormClassifier("squared").fit(far_X, far_classes)
    same(far, near)
    assert far.classes_.tolist() == [1, 3]
    assert far.predict(far_X).compute(scheduler="synchronous").tolist() == near.predict(X).tolist()
    far.loss = "logistic"
    chances = far.predict_proba(far_X)
    assert chances.shape == (300, 2)
    np.testing.assert_allclose(chances.compute(scheduler="synchronous").sum(axis=1), 1.0)


def test_rows_to_choose_by() -> None:
    for slack in (0.0, 0.01):
        near = SelectionRegressor(slack=slack).fit(X, y, X_val=V, y_val=v)
        same(SelectionRegressor(slack=slack).fit(far_X, far_y, X_val=far_V, y_val=far_v), near)
    near = SelectionClassifier("squared").fit(X, classes, X_val=V, y_val=of_v)
    same(SelectionClassifier("squared").fit(far_X, far_classes, X_val=far_V, y_val=of_v), near)


def test_frames() -> None:
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    table = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    frame = dd.from_pandas(table, npartitions=3)
    far = MinNormRegressor().fit(frame[list("abcde")], frame["y"])
    same(far, MinNormRegressor().fit(X, y))
    assert far.feature_names_in_.tolist() == list("abcde")
    predicted = far.predict(frame[list("abcde")]).compute(scheduler="synchronous")
    np.testing.assert_allclose(predicted, far.predict(table[list("abcde")]))
    apart = dd.from_pandas(table["y"], npartitions=2)
    same(MinNormRegressor().fit(frame[list("abcde")], apart), MinNormRegressor().fit(X, y))


def test_what_is_not_taken_is_said() -> None:
    with pytest.raises(TypeError, match="FairClassifier needs its rows on one machine"):
        FairClassifier().fit(far_X, far_classes)
    with pytest.raises(ValueError, match="give the rows to choose by as X_val and y_val"):
        SelectionRegressor().fit(far_X, far_y)
    with pytest.raises(ValueError, match="continuous"):
        MinNormClassifier().fit(far_X, far_y)
    with pytest.raises(ValueError, match="one class only"):
        MinNormClassifier().fit(far_X, 0 * far_classes)
    with pytest.raises(ValueError, match="X has 4 features"):
        SelectionRegressor().fit(far_X, far_y, X_val=far_V[:, :4], y_val=far_v)
