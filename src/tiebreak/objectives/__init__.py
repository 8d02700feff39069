"""Objectives: functions with their facts and structure."""

from .algebra import Multiple, Sum
from .base import Objective, Predictor
from .covariance import SquaredCovariance
from .function import Function
from .gradient_check import ConvexityError, GradientError, check_convexity, check_gradient
from .huber import Huber
from .least_squares import LeastSquares
from .linear import Linear, SquaredNorm
from .logistic import Logistic
from .norms import GroupNorm, L1Norm, Norm, Zero
from .quadratic import Quadratic
from .reconstruction import Reconstruction

__all__ = [
    "ConvexityError",
    "Function",
    "GradientError",
    "GroupNorm",
    "Huber",
    "L1Norm",
    "LeastSquares",
    "Linear",
    "Logistic",
    "Multiple",
    "Norm",
    "Objective",
    "Predictor",
    "Quadratic",
    "Reconstruction",
    "SquaredCovariance",
    "SquaredNorm",
    "Sum",
    "Zero",
    "check_convexity",
    "check_gradient",
]
