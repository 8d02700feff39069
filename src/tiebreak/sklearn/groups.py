"""Sensitive features as columns of numbers: groups as indicators, quantities in units of their standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Matrix, Vector

MOST_GROUPS = 100
"""More groups in one column are taken for a mistake: a quantity that came as text, or an identifier."""


@dataclass(frozen=True)
class Sensitive:
    """Columns with zero mean, and their names."""

    columns: Matrix
    names: tuple[str, ...]

    def covariances(self, X: Any, shares: Vector) -> Matrix:
        """The row of each column: its product with coefficients is the covariance of the column and the scores."""
        return np.asarray(X.T @ (shares[:, None] * self.columns)).T

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.names)


def sensitive_columns(given: Any, rows: int, counted: Any, shares: Vector) -> Sensitive:
    """Columns for each sensitive feature in the rows that count, centred with their shares.

    Examples
    --------
    >>> sensitive_columns(["a", "b", "b", "c"], 4, slice(None), np.full(4, 0.25)).names
    ('sensitive=a', 'sensitive=b', 'sensitive=c')
    """
    names, features = _features(given)
    columns, labels = [], []
    for name, feature in zip(names, features, strict=True):
        if feature.size != rows:
            raise ValueError(f"sensitive_features must have one entry for each of the {rows} rows, got {feature.size}")
        for label, column in _columns(name, feature[counted]).items():
            centred = column - shares @ column
            if np.abs(centred).max() > 1e-12 * np.abs(column).max():
                columns.append(centred)
                labels.append(label)
    if not columns:
        raise ValueError("sensitive_features are the same in every row: there is nobody to be fair to")
    return Sensitive(np.column_stack(columns), tuple(labels))


def _features(given: Any) -> tuple[list[str], list[Any]]:
    """The names of the features, and their entries as they are."""
    if hasattr(given, "columns"):
        return [str(name) for name in given.columns], [np.asarray(given[name]) for name in given.columns]
    array = np.asarray(given)
    if array.ndim == 1:
        return [str(getattr(given, "name", None) or "sensitive")], [array]
    if array.ndim != 2:
        raise ValueError(f"sensitive_features must have one or two dimensions, got {array.ndim}")
    return [f"sensitive[{j}]" for j in range(array.shape[1])], list(array.T)


def _columns(name: str, feature: Any) -> dict[str, Vector]:
    """A quantity as one column, groups as an indicator each (one of the two where there are two)."""
    if feature.dtype.kind == "f":
        if not np.isfinite(feature).all():
            raise ValueError(f"sensitive_features: {name} has entries that are not finite")
        if np.unique(feature).size > 2:
            return {name: feature / feature.std()}
    labels = feature.astype(str)
    groups = np.unique(labels)
    if groups.size > MOST_GROUPS:
        raise ValueError(
            f"sensitive_features: {name} has {groups.size} groups, more than {MOST_GROUPS}; give a quantity as floats"
        )
    kept = groups[1:] if groups.size == 2 else groups
    return {f"{name}={group}": (labels == group).astype(np.float64) for group in kept}
