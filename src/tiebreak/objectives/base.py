"""What an objective is: a value, a gradient, a few facts, and its form where it has one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, as_numbers, as_positive, as_scalar

if TYPE_CHECKING:
    from .chunked import ChunkedSum
    from .covariance import FairRows
    from .form import Form
    from .norms import Norm
    from .piecewise import Piecewise
    from .predictions import Predictions
    from .reconstruction import Dictionary

Image: TypeAlias = Any
"""What an objective wants carried along with x: ``A @ x``, a tuple of such (sums), or None (no structure)."""


class Objective(ABC):
    """A function to minimise.

    A subclass supplies ``value_and_grad`` and, if it can do better than the defaults, the rest.
    ``lower_bound`` is a number known to be below all values (0 for a sum of squares), ``-inf`` otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> f = 2 * tb.SquaredNorm([1.0, 0.0]) + tb.Linear([0.0, 3.0])
    >>> f.convex, f.smoothness
    (True, 2.0)
    >>> f.value_and_grad(np.array([0.0, 1.0]))
    (5.0, array([-2.,  5.]))
    """

    convex: bool = False
    differentiable: bool = True
    """Where it is not, ``grad`` is a subgradient. It is the sum of ``smooth_part``, ``norms`` and ``pieces``, and only
    these two have kinks, unless a ``lipschitz`` constant is given instead."""
    norms: tuple[Norm, ...] = ()
    pieces: tuple[Piecewise, ...] = ()
    dim: int | None = None
    lower_bound: float = -np.inf
    quadratic: bool = False
    summands: int = 1
    """Of how many terms ``batch`` may pick some: the rows of the data where it is a sum over them, else 1."""
    claims: str = ""
    """What a user says of this objective and the library cannot check; empty where there is no such thing."""
    identity: tuple[str, ...] | None = None
    """The attributes that tell one objective of its class from another; None: all (of a user's class: its values)."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.split(".")[0] != "tiebreak" and "claims" not in vars(cls):
            cls.claims = "value, gradient and facts are as its class gives them"

    @property
    def smoothness(self) -> float | None:
        """A Lipschitz constant of the gradient (Euclidean norm): an upper bound, or None if none is known."""
        return None

    @property
    def lipschitz(self) -> float | None:
        """A Lipschitz constant of the objective itself (Euclidean norm), where one is given; None: none is."""
        return None

    @property
    def smooth_part(self) -> Objective:
        """The objective without its norms and pieces."""
        return self

    @property
    def form(self) -> Form | None:
        """What it is made of, for exact engines: losses of linear maps, quadratics, a linear term, norms, pieces.

        None where it is something else, or where that is not known.
        """
        return None

    @property
    def chunked(self) -> ChunkedSum | None:
        """The convex loss of data in chunks that it is; None where it is anything else."""
        return None

    @property
    def parts(self) -> tuple[tuple[float, Objective], ...]:
        """Its terms with their factors, of sums and multiples; otherwise itself."""
        return ((1.0, self),)

    @property
    def formless(self) -> str:
        """The type of the first term without a form; empty where all have one."""
        return next((type(part).__name__ for _, part in self.parts if part.form is None), "")

    @abstractmethod
    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        """Value and gradient at x, in one pass over the data."""

    def value(self, x: Vector) -> float:
        """The value at x."""
        return self.value_and_grad(x)[0]

    def grad(self, x: Vector) -> Vector:
        """The gradient at x; a subgradient where the objective is not differentiable."""
        return self.value_and_grad(x)[1]

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What methods have computed for this objective and would need again; it goes with the objective."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "kept"}

    # -- what a solver may carry along with x, so that a short step costs no pass over the data --------------

    def image(self, x: Vector) -> Image:
        """The part of the evaluation that is linear in x (``A @ x``); few nonzeros in x make it cheap."""
        return None

    def value_at(self, x: Vector, image: Image) -> float:
        """The value at x, given ``image(x)``."""
        return self.value(x)

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        """Value and gradient at x, given ``image(x)``."""
        return self.value_and_grad(x)

    # -- finite sums ---------------------------------------------------------------------------------------------

    def batch(self, x: Vector, index: NDArray[np.intp]) -> tuple[float, Vector]:
        """Estimates of value and gradient from a few summands: summands / len(index) times what those give."""
        return self.value_and_grad(x)

    # -- facts for certificates and line searches ------------------------------------------------------------

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        """<d, Hd> for a quadratic with Hessian H, given ``image(d)``; None for any other objective."""
        return None

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        """The Hessian at x times a direction, for step sizes; None where it is not known."""
        return None

    def curvature_within(self, x: Vector, radius: float) -> float | None:
        """A Lipschitz constant of the gradient within this distance of x; None where none is known."""
        return self.smoothness

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        """A lower bound on the minimum over Z from one point and ``min over s in Z of <grad(x), s>``.

        The Frank-Wolfe bound is weak duality at the dual point h'(Ax); an objective whose conjugate is known
        may rescale that point and do better. ``-inf`` where it cannot. ``linear_minimum`` must be valid for
        the exact gradient: the caller lowers it by ``rounding(x)[1]`` times the largest norm in Z. All other
        rounding is allowed for here.
        """
        return -np.inf

    def rounding(self, x: Vector) -> tuple[float, float]:
        """Bounds on the floating-point errors of the value and (in Euclidean norm) of the gradient at x.

        The default takes the function to be evaluated to a relative accuracy of ``dim`` units of roundoff.
        """
        value, grad = self.value_and_grad(x)
        unit = (x.size + 8) * UNIT_ROUNDOFF
        size = float(np.linalg.norm(grad))
        return unit * (abs(value) + size * float(np.linalg.norm(x))), unit * size

    def value_and_error(self, x: Vector) -> tuple[float, float]:
        """The value at x and the first number of ``rounding``, for objectives with work in common to both."""
        return self.value(x), self.rounding(x)[0]

    # -- functions of linear maps ------------------------------------------------------------------------------

    @property
    def predictions(self) -> Predictions | None:
        """Where f depends on x through A x alone: A, and how f bends in it; None where that is not known."""
        return None

    @property
    def narrow(self) -> Objective:
        """The same function without further variables that it does not depend on."""
        return self

    # -- pairs of levels with a fast loop of their own --------------------------------------------------------

    def fair_rows(self, lower: Objective) -> FairRows | None:
        """Of a squared covariance over a logistic loss: what both share; None for any other pair."""
        return None

    def dictionary(self, lower: Objective) -> Dictionary | None:
        """Of two reconstruction errors of dictionary learning: their data; None for any other pair."""
        return None

    def _point(self, x: ArrayLike) -> Vector:
        """x as a float64 vector of the right length; finiteness is left to the caller."""
        point = x if type(x) is np.ndarray and x.dtype == np.float64 else as_numbers(x, "x")
        if point.ndim != 1 or (self.dim is not None and point.size != self.dim):
            expected = "1-D" if self.dim is None else f"1-D of length {self.dim}"
            raise ValueError(f"x must be {expected}, got shape {point.shape}")
        return point

    # -- sums, multiples and quotients -----------------------------------------------------------------------

    def __add__(self, other: object) -> Objective:
        from .algebra import Sum

        if not isinstance(other, Objective):
            return NotImplemented
        return Sum(self, other)

    def __sub__(self, other: object) -> Objective:
        if not isinstance(other, Objective):
            return NotImplemented
        return self + -other

    def __neg__(self) -> Objective:
        return self._negative()

    def __mul__(self, factor: object) -> Objective:
        if not isinstance(factor, (int, float, np.number)):
            return NotImplemented
        number = as_scalar(factor, "the factor of an objective")
        if number < 0:
            return self._negative()._times(-number)
        return self._times(as_positive(number, "the factor of an objective"))

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Objective:
        if not isinstance(divisor, (int, float, np.number)):
            return NotImplemented
        number = as_scalar(divisor, "the divisor of an objective")
        if number == 0:
            raise ValueError("the divisor of an objective must not be zero")
        return self * (1 / number)

    def _times(self, factor: float) -> Objective:
        """A positive multiple."""
        from .algebra import Multiple

        return Multiple(factor, self)

    def _negative(self) -> Objective:
        """Minus the objective, where that is convex."""
        raise ValueError(
            f"the factor of an objective must be positive: minus {type(self).__name__} is not known to be convex; only "
            "a Linear can be maximised, as -Linear(c), or a Quadratic that is concave (write the negative of another "
            "concave function as an objective)"
        )
