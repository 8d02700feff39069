"""Objectives: functions with their facts and structure."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:  # for type checkers and editors, which do not follow ``__getattr__``
    from .algebra import Multiple as Multiple
    from .algebra import Sum as Sum
    from .algebra import Widened as Widened
    from .base import Objective as Objective
    from .covariance import SquaredCovariance as SquaredCovariance
    from .form import Form as Form
    from .function import Function as Function
    from .gradient_check import ConvexityError as ConvexityError
    from .gradient_check import GradientError as GradientError
    from .gradient_check import check_convexity as check_convexity
    from .gradient_check import check_gradient as check_gradient
    from .linear import Linear as Linear
    from .linear import SquaredNorm as SquaredNorm
    from .losses.base import Loss as Loss
    from .losses.hinge import SquaredHinge as SquaredHinge
    from .losses.huber import Huber as Huber
    from .losses.logistic import Logistic as Logistic
    from .losses.own import LossOf as LossOf
    from .losses.poisson import Poisson as Poisson
    from .losses.softmax import Softmax as Softmax
    from .losses.square import LeastSquares as LeastSquares
    from .max_affine import MaxAffine as MaxAffine
    from .norms import GroupNorm as GroupNorm
    from .norms import L1Norm as L1Norm
    from .norms import Norm as Norm
    from .norms import Zero as Zero
    from .piecewise import Piecewise as Piecewise
    from .quadratic import Quadratic as Quadratic
    from .reconstruction import Reconstruction as Reconstruction

__getattr__, __all__ = lazily(
    __name__,
    {
        "algebra": ("Multiple", "Sum", "Widened"),
        "base": ("Objective",),
        "covariance": ("SquaredCovariance",),
        "form": ("Form",),
        "function": ("Function",),
        "gradient_check": ("ConvexityError", "GradientError", "check_convexity", "check_gradient"),
        "linear": ("Linear", "SquaredNorm"),
        "losses.base": ("Loss",),
        "losses.hinge": ("SquaredHinge",),
        "losses.huber": ("Huber",),
        "losses.logistic": ("Logistic",),
        "losses.own": ("LossOf",),
        "losses.poisson": ("Poisson",),
        "losses.softmax": ("Softmax",),
        "losses.square": ("LeastSquares",),
        "max_affine": ("MaxAffine",),
        "norms": ("GroupNorm", "L1Norm", "Norm", "Zero"),
        "piecewise": ("Piecewise",),
        "quadratic": ("Quadratic",),
        "reconstruction": ("Reconstruction",),
    },
)
