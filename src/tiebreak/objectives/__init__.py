"""Objectives: functions with their facts and structure."""

from .algebra import Multiple, Sum, Widened
from .base import Objective
from .covariance import SquaredCovariance
from .form import Form
from .function import Function
from .gradient_check import ConvexityError, GradientError, check_convexity, check_gradient
from .linear import Linear, SquaredNorm
from .losses.base import Loss
from .losses.hinge import SquaredHinge
from .losses.huber import Huber
from .losses.logistic import Logistic
from .losses.own import LossOf
from .losses.poisson import Poisson
from .losses.softmax import Softmax
from .losses.square import LeastSquares
from .max_affine import MaxAffine
from .norms import GroupNorm, L1Norm, Norm, Zero
from .piecewise import Piecewise
from .quadratic import Quadratic
from .reconstruction import Reconstruction

__all__ = [
    "ConvexityError",
    "Form",
    "Function",
    "GradientError",
    "GroupNorm",
    "Huber",
    "L1Norm",
    "LeastSquares",
    "Linear",
    "Logistic",
    "Loss",
    "LossOf",
    "MaxAffine",
    "Multiple",
    "Norm",
    "Objective",
    "Piecewise",
    "Poisson",
    "Quadratic",
    "Reconstruction",
    "Softmax",
    "SquaredCovariance",
    "SquaredHinge",
    "SquaredNorm",
    "Sum",
    "Widened",
    "Zero",
    "check_convexity",
    "check_gradient",
]
