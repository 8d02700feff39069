"""Estimators for scikit-learn (extra "sklearn"): the best model by a second criterion among all that fit best.

>>> from tiebreak.sklearn import MinNormRegressor
>>> MinNormRegressor(fit_intercept=False).fit([[1.0, 1.0]], [1.0]).coef_.round(9)
array([0.5, 0.5])
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("tiebreak.sklearn needs scikit-learn: pip install 'tiebreak[sklearn]'") from error

from .fair import FairClassifier
from .lifelong import LifelongClassifier
from .min_norm import MinNormClassifier, MinNormRegressor
from .selection import SelectionClassifier, SelectionRegressor

__all__ = [
    "FairClassifier",
    "LifelongClassifier",
    "MinNormClassifier",
    "MinNormRegressor",
    "SelectionClassifier",
    "SelectionRegressor",
]
