"""Data for fair classification: people, what is to be predicted of them, and their sex.

The paper's data are the Adult income data of the UCI repository, prepared as by Zafar et al. (AISTATS 2017): the
authors' sample of 10,000 people, where it is at hand, or the two raw files. The diabetes data take their
place offline.

Oddities of the authors' preparation, kept: columns are scaled to [0, 1] over all rows before the split, so that test
rows have a say in the scaling; and the intercept is a column like the others, so that it counts in the l1 norm.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from .diabetes import load_diabetes, products

Index = NDArray[np.intp]

SAMPLE, TRAIN, TEST = 10_000, 2_000, 1_000

FIELDS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip
"""Of a line of adult.data."""

USED = (
    "education", "native_country", "education_num", "occupation", "capital_loss", "hours_per_week", "marital_status",
    "age", "capital_gain", "relationship", "workclass",
)  # fmt: skip
"""All but the sensitive attributes and the survey's weight."""

NUMBERS = ("education_num", "capital_loss", "hours_per_week", "age", "capital_gain")
PRIMARY = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
SECONDARY = ("9th", "10th", "11th", "12th")


@dataclass(frozen=True)
class People:
    """Scaled features with a last column of ones, labels -1 and 1, sex (1 = male), and which rows serve for what.

    ``subjects`` is the number of people in the data they were taken from.
    """

    X: Vector
    y: Vector
    sex: Vector
    columns: tuple[str, ...]
    train: Index
    test: Index
    validation: Index
    source: str
    paper: str
    subjects: int


def find(folder: Path | None, seed: int = 0) -> People:
    """The best data at hand: the authors' sample, the raw files, or else the diabetes data."""
    if folder is not None and (folder / "adult.npz").exists() and (folder / "adult_official_split.npz").exists():
        return authors_sample(folder, seed)
    if folder is not None and (folder / "adult.data").exists() and (folder / "adult.test").exists():
        return from_raw(folder / "adult.data", folder / "adult.test", seed)
    return diabetes_people(seed)


def authors_sample(folder: Path, seed: int = 0) -> People:
    """The 10,000 people of the authors; seed 0 is their split, any other draws one of the same sizes.

    All that neither train nor test serve for validation.
    """
    with np.load(folder / "adult.npz", allow_pickle=False) as file:
        X, y, sex = (file[name].astype(float) for name in ("X", "y", "sex"))
        columns = tuple(file["columns"].tolist())
    with np.load(folder / "adult_official_split.npz", allow_pickle=False) as file:
        train, test = file["idx_train"].astype(np.intp), file["idx_test"].astype(np.intp)
    whose = "their split"
    if seed:
        order, whose = np.random.default_rng(seed).permutation(len(X)), f"split {seed} of the same sizes"
        train, test = order[: len(train)], order[len(train) : len(train) + len(test)]
    rest = np.setdiff1d(np.arange(len(X)), np.concatenate([train, test]))
    source = f"the authors' sample of 10,000 people from the Adult data, and {whose}"
    return People(_scaled(X), y, sex, columns, train, test, rest, source, "authors", len(X))


def from_raw(data: Path, test: Path, seed: int = 0) -> People:
    """A sample of 10,000 from the two files of the UCI repository (fewer where they hold fewer)."""
    records = [record for path in (data, test) for record in read_adult(path)]
    complete = [record for record in records if "?" not in record.values()]
    if len(complete) < 10:
        raise ValueError(f"{data} and {test} hold {len(complete)} complete records; 10 are the least")
    columns, table = _one_hot(complete)
    order = np.random.default_rng(seed).permutation(len(complete))[:SAMPLE]
    X = table[order]
    varying = np.ptp(X, axis=0) > 0
    y = np.array([1.0 if complete[i]["income"] == ">50K" else -1.0 for i in order])
    sex = np.array([float(complete[i]["sex"] == "Male") for i in order])
    train, end = len(order) * TRAIN // SAMPLE, len(order) * (TRAIN + TEST) // SAMPLE
    rows = np.arange(len(order))
    kept = tuple(name for name, keep in zip(columns, varying, strict=True) if keep)
    source = f"the Adult data: {len(order):,} of {len(complete):,} complete records, drawn with seed {seed}"
    return People(
        _scaled(X[:, varying]), y, sex, kept, rows[:train], rows[train:end], rows[end:], source, "raw", len(records)
    )


def read_adult(path: Path) -> list[dict[str, str]]:
    """The records of adult.data or adult.test; values as text, ``?`` where they are missing."""
    records = []
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.reader(file, skipinitialspace=True), start=1):
            if not row or row[0].startswith("|"):  # blank lines, and the comment at the head of adult.test
                continue
            if len(row) != len(FIELDS):
                raise ValueError(f"{path}, line {number}: {len(FIELDS)} values are wanted, there are {len(row)}")
            record = dict(zip(FIELDS, (value.strip() for value in row), strict=True))
            record["income"] = record["income"].rstrip(".")  # adult.test ends its lines with a dot
            if record["income"] not in (">50K", "<=50K"):
                raise ValueError(f"{path}, line {number}: income must be >50K or <=50K, got {record['income']!r}")
            bad = [name for name in NUMBERS if not record[name].isdigit()]
            if bad:
                raise ValueError(f"{path}, line {number}: {bad[0]} must be a number, got {record[bad[0]]!r}")
            records.append(record)
    return records


def _one_hot(records: list[dict[str, str]]) -> tuple[list[str], Vector]:
    """Numbers as they are, an indicator for every other value; two values make one column."""
    columns: list[str] = []
    data: list[list[float]] = []
    for field in USED:
        values = [_grouped(field, record[field]) for record in records]
        if field in NUMBERS:
            columns.append(field)
            data.append([float(value) for value in values])
            continue
        kinds = sorted(set(values))
        for kind in kinds[1:] if len(kinds) == 2 else kinds:
            columns.append(f"{field}={kind}")
            data.append([float(value == kind) for value in values])
    return columns, np.array(data).T


def _grouped(field: str, value: str) -> str:
    """Countries are the United States and the others; the years of school before graduation are two groups."""
    if field == "native_country":
        return value if value == "United-States" else "Other"
    if field == "education" and value in PRIMARY:
        return "prim-middle-school"
    if field == "education" and value in SECONDARY:
        return "high-school"
    return value


def diabetes_people(seed: int = 0) -> People:
    """Does the disease progress faster than usual: nine measurements and their products, sex set apart.

    Examples
    --------
    >>> people = diabetes_people()
    >>> people.X.shape, len(people.train), len(people.test), len(people.validation)
    ((442, 55), 265, 89, 88)
    """
    data = load_diabetes()
    X, columns = products(np.delete(data.X, 1, axis=1), data.names[:1] + data.names[2:], 2)
    y = np.where(data.progression > np.median(data.progression), 1.0, -1.0)
    order = np.random.default_rng(seed).permutation(len(X))
    source = "the diabetes data (442 people; not the paper's data): does the disease progress fast"
    sex = (data.X[:, 1] > 0).astype(float)
    return People(_scaled(X), y, sex, columns, order[:265], order[265:354], order[354:], source, "", len(X))


def _scaled(X: Vector) -> Vector:
    """Every column between 0 and 1, and one of ones."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.column_stack([(X - low) / np.where(high > low, high - low, 1.0), np.ones(len(X))])
