"""Fair classifiers within a slack of the best loss, beside plain logistic regression.

    TIEBREAK_DATA=FOLDER python benchmarks/sklearn_fair.py [--seconds 120]

On the Adult data where TIEBREAK_DATA names a folder that has them, and on the diabetes data, which ship with the
library. Of each classifier: accuracy on test rows, covariance of its scores with sex on training rows, the p%-rule on
test rows (the smaller rate of positive decisions in percent of the larger one), seconds, and whether it is proved.
Beside them, where fairlearn is installed, its ExponentiatedGradient with demographic parity over logistic regressions,
whose decisions are drawn: it has no scores, so neither covariance nor loss.
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
BOUNDS = (0.05, 0.01)
"""How far rates of positive decisions may be apart, for fairlearn."""


def p_rule(positive: np.ndarray, male: np.ndarray) -> float:
    rates = sorted([float(positive[male].mean()), float(positive[~male].mean())])
    return 100.0 * rates[0] / rates[1] if rates[1] > 0 else 100.0


def compare(people: People, seconds: float) -> None:
    X, sex = people.X[:, :-1], people.sex  # the last column is the intercept
    train, test = people.train, people.test
    print(f"\n{people.source}: {train.size} training rows, {test.size} test rows, {X.shape[1]} features")
    print(f"{'':<28}{'accuracy':>10}{'covariance':>12}{'p%':>8}{'loss':>10}{'seconds':>10}  proved")
    made: dict[str, Any] = {"LogisticRegression": LogisticRegression(max_iter=10_000, tol=1e-6)}
    made |= {f"FairClassifier({slack:g})": FairClassifier(slack, max_time=seconds) for slack in SLACKS}
    made |= by_fairlearn()
    for name, model in made.items():
        labels = people.y[train] if hasattr(model, "decision_function") else (people.y[train] > 0).astype(int)
        fair = {} if name.startswith("Logistic") else {"sensitive_features": sex[train].astype(int)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            taken, _ = harness.timed(lambda: model.fit(X[train], labels, **fair))  # noqa: B023
        if hasattr(model, "decision_function"):
            scores, positive = model.decision_function(X[train]), model.decision_function(X[test]) > 0
            covariance = f"{np.mean((sex[train] - sex[train].mean()) * scores):.5f}"
            loss = f"{np.mean(np.logaddexp(0.0, -people.y[train] * scores)):.6f}"
        else:
            positive, covariance, loss = model.predict(X[test], random_state=0) > 0, "-", "-"
        accuracy = float(np.mean(positive == (people.y[test] > 0)))
        proved = str(model.result_.success) if hasattr(model, "result_") else "-"
        print(
            f"{name:<28}{accuracy:>10.3f}{covariance:>12}{p_rule(positive, sex[test] == 1):>8.1f}{loss:>10}"
            f"{taken:>10.2f}  {proved}",
            flush=True,
        )


def by_fairlearn() -> dict[str, Any]:
    """Its reduction with demographic parity; nothing where it is not installed."""
    try:
        from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    except ImportError:
        print("fairlearn is not installed: without ExponentiatedGradient")
        return {}
    return {
        f"ExponentiatedGradient({bound:g})": ExponentiatedGradient(
            LogisticRegression(max_iter=1000), DemographicParity(difference_bound=bound), eps=bound
        )
        for bound in BOUNDS
    }


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
