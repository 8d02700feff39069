"""The diabetes data of Efron, Hastie, Johnstone and Tibshirani (Least Angle Regression, Annals of Statistics 2004).

Ten measurements of 442 patients, and how far the disease had progressed a year later. The file ships with the library,
so that its main job needs no other.
"""

from __future__ import annotations

from importlib import resources
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from ...arrays import Vector


class Diabetes(NamedTuple):
    """Measurements (each with zero mean and unit variance), their names, and the progression of the disease."""

    X: Vector
    names: tuple[str, ...]
    progression: Vector


def load_diabetes() -> Diabetes:
    """Read the file.

    Examples
    --------
    >>> data = load_diabetes()
    >>> data.X.shape, data.names[:3], float(data.progression.mean().round(2))
    ((442, 10), ('age', 'sex', 'bmi'), 152.13)
    """
    text = resources.files(__package__).joinpath("data", "diabetes.csv").read_text(encoding="ascii")
    header, *lines = text.splitlines()
    table = np.array([[float(entry) for entry in line.split(",")] for line in lines])
    X = table[:, :-1]
    return Diabetes((X - X.mean(axis=0)) / X.std(axis=0), tuple(header.split(",")[:-1]), table[:, -1])


def products(X: Vector, names: tuple[str, ...], degree: int) -> tuple[Vector, tuple[str, ...]]:
    """All products of one to ``degree`` columns, and their names.

    Examples
    --------
    >>> products(np.array([[2.0, 3.0]]), ("a", "b"), 2)
    (array([[2., 3., 4., 6., 9.]]), ('a', 'b', 'a a', 'a b', 'b b'))
    """
    chosen = [c for k in range(1, degree + 1) for c in combinations_with_replacement(range(X.shape[1]), k)]
    return np.column_stack([X[:, c].prod(axis=1) for c in chosen]), tuple(" ".join(names[j] for j in c) for c in chosen)
