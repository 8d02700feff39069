"""Fair classifiers within a slack of the best loss, beside plain logistic regression.

    TIEBREAK_DATA=FOLDER python benchmarks/sklearn_fair.py [--seconds 120]

On the Adult data where TIEBREAK_DATA names a folder that has them, and on the diabetes data, which ship with the
library. Of each classifier: accuracy on test rows, covariance of its scores with sex on training rows, the p%-rule on
test rows (the smaller rate of positive decisions in percent of the larger one), seconds, and whether it is proved.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from tiebreak.lab.experiments.people import People, diabetes_people, find
from tiebreak.sklearn import FairClassifier

SLACKS = (0.0, 0.001, 0.01, 0.05)


def p_rule(positive: np.ndarray, male: np.ndarray) -> float:
    rates = sorted([float(positive[male].mean()), float(positive[~male].mean())])
    return 100.0 * rates[0] / rates[1] if rates[1] > 0 else 100.0


def compare(people: People, seconds: float) -> None:
    X, sex = people.X[:, :-1], people.sex  # the last column is the intercept
    train, test = people.train, people.test
    print(f"\n{people.source}: {train.size} training rows, {test.size} test rows, {X.shape[1]} features")
    print(f"{'':<26}{'accuracy':>10}{'covariance':>12}{'p%':>8}{'loss':>10}{'seconds':>10}  proved")
    made: dict[str, Any] = {"LogisticRegression": LogisticRegression(max_iter=10_000, tol=1e-6)}
    made |= {f"FairClassifier({slack:g})": FairClassifier(slack, max_time=seconds) for slack in SLACKS}
    for name, model in made.items():
        fair = {"sensitive_features": sex[train].astype(int)} if "Fair" in name else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            taken, _ = harness.timed(lambda: model.fit(X[train], people.y[train], **fair))  # noqa: B023
        scores = model.decision_function(X[train])
        covariance = float(np.mean((sex[train] - sex[train].mean()) * scores))
        loss = float(np.mean(np.logaddexp(0.0, -people.y[train] * scores)))
        positive = model.decision_function(X[test]) > 0
        accuracy = float(np.mean(positive == (people.y[test] > 0)))
        proved = str(model.result_.success) if fair else "-"
        print(
            f"{name:<26}{accuracy:>10.3f}{covariance:>12.5f}{p_rule(positive, sex[test] == 1):>8.1f}{loss:>10.6f}"
            f"{taken:>10.2f}  {proved}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    seconds = parser.parse_args().seconds
    folder = os.environ.get("TIEBREAK_DATA")
    compare(diabetes_people(), seconds)
    if folder:
        compare(find(Path(folder)), seconds)


if __name__ == "__main__":
    main()
