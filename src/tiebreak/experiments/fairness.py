"""A fair classifier among the best ones: logistic loss below, the covariance of scores and a sensitive attribute above.

Example 2 of the CG-BiO paper, here on the diabetes data that ships with scikit-learn: does the disease progress faster
than usual, predicted from nine measurements and their products, with the patient's sex as the sensitive attribute. The
paper's objective squares the covariance of the *probabilities*, which is not convex; the covariance of the *scores*
(Zafar et al., AISTATS 2017) is, so that its trade-off curve can be proved.
"""

from __future__ import annotations

import numpy as np

from ..objectives import LeastSquares, Logistic
from ..problem import Problem
from ..sets import L1Ball


def diabetes(radius: float = 10.0) -> Problem:
    """The logistic loss below, half the squared covariance of scores and sex above, over an l1 ball.

    Examples
    --------
    >>> diabetes().lower.predictor.A.shape
    (442, 55)
    """
    try:
        from sklearn.datasets import load_diabetes
        from sklearn.preprocessing import PolynomialFeatures
    except ImportError as error:
        raise ImportError("the diabetes data needs scikit-learn: pip install 'tiebreak[sklearn]'") from error
    data = load_diabetes()
    sex = (data.data[:, 1] > 0).astype(float)
    measured = np.delete(data.data, 1, axis=1)
    features = PolynomialFeatures(degree=2).fit_transform(measured / measured.std(axis=0))
    features[:, 1:] = (features[:, 1:] - features[:, 1:].mean(axis=0)) / features[:, 1:].std(axis=0)
    faster = data.target > np.median(data.target)
    covariance = (sex - sex.mean()) @ features / len(features)
    return Problem(
        upper=LeastSquares(covariance[None, :], [0.0]), lower=Logistic(features, faster), domain=L1Ball(radius)
    )
