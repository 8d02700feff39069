"""Over-parameterised regression: among the models that fit the training data best, the one that validates best.

Example 1 of the CG-BiO paper, here on the diabetes data that ships with scikit-learn (442 patients, 10 measurements)
with all products of up to three measurements as features: 285 features, and 265 training rows or fewer.
"""

from __future__ import annotations

import numpy as np

from ..objectives import LeastSquares
from ..problem import Problem
from ..sets import L1Ball


def diabetes(radius: float = 1.0, rows: int = 265, seed: int = 0) -> Problem:
    """The training error below, the validation error above, over an l1 ball.

    Features and target are scaled to zero mean and unit variance over the training rows, and both errors are means.
    With all 265 training rows and a small radius the training error decides alone; with 60 rows and a radius of 20
    many models fit exactly, and the validation error chooses among them.

    Examples
    --------
    >>> problem = diabetes()
    >>> problem.lower.predictor.A.shape
    (265, 285)
    """
    try:
        from sklearn.datasets import load_diabetes
        from sklearn.preprocessing import PolynomialFeatures
    except ImportError as error:
        raise ImportError("the diabetes data needs scikit-learn: pip install 'tiebreak[sklearn]'") from error
    data = load_diabetes()
    features = PolynomialFeatures(degree=3, include_bias=False).fit_transform(data.data / data.data.std(axis=0))
    order = np.random.default_rng(seed).permutation(len(features))
    train, validation = order[:rows], order[265:354]
    center, spread = features[train].mean(axis=0), features[train].std(axis=0)
    A = (features - center) / np.where(spread > 0, spread, 1.0)
    b = (data.target - data.target[train].mean()) / data.target[train].std()
    return Problem(
        upper=LeastSquares(A[validation], b[validation], scale=1 / len(validation)),
        lower=LeastSquares(A[train], b[train], scale=1 / len(train)),
        domain=L1Ball(radius),
    )
