"""What is known of a function that depends on x through a linear map alone."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Vector
from .matrix import DataMatrix


class Predictions(NamedTuple):
    """f(x) = h(A x) with -diag(most) <= h'' <= diag(most) everywhere; inf where there is no such bound."""

    data: DataMatrix
    most: Vector | float
