"""Objectives given by callables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Vector, as_count, as_flag, as_positive, as_scalar
from ..usercode import call, real_copy
from .base import Objective


class Function(Objective):
    """An objective from a value and a gradient written in Python.

    Parameters
    ----------
    value : callable
        ``value(x) -> float``; may be left out where ``value_and_grad`` is given.
    grad : callable
        ``grad(x) -> array`` of the shape of x; likewise.
    dim : int, optional
        The length of x; any by default.
    convex : bool
        Whether the function is convex; bounds on the optimal values rest on it.
    smoothness : float, optional
        A Lipschitz constant of the gradient, where one is known; else methods find out how long their steps may be.
    value_and_grad : callable, optional
        ``value_and_grad(x) -> (float, array)``, where both in one go are cheaper than one after the other.
    hvp : callable, optional
        ``hvp(x, d) -> array``, the Hessian at x times d: methods that have no smoothness begin with its largest
        eigenvalue. No bound rests on it.
    lower_bound : float
        A number below all values; -inf by default.
    lipschitz : float, optional
        A Lipschitz constant of the function itself. With it the function need not be differentiable: where it is not,
        ``grad`` returns any subgradient, and methods that work with subgradients take it (``bi-cs``, ``a-irg``).

    Notes
    -----
    The callables get copies and may work in place. ``check_gradient`` tells whether they agree. ``solve`` compares
    their answers with each other and with what is claimed here, and raises ``OracleError`` where they cannot all be
    right; values must be computed in double precision and depend on x alone. A class of its own (a subclass of
    ``Objective``) may declare larger errors by its method ``rounding``; the bounds then give them away.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> f = tb.Function(lambda x: np.exp(x).sum(), np.exp, convex=True)
    >>> f.value([0.0, 0.0]), f.grad([0.0, 0.0]).tolist()
    (2.0, [1.0, 1.0])
    >>> g = tb.Function(value_and_grad=lambda x: (x @ x, 2 * x), convex=True)
    >>> g.value([1.0, 2.0]), g.grad([1.0, 2.0]).tolist()
    (5.0, [2.0, 4.0])
    """

    def __init__(
        self,
        value: Callable[[Vector], Any] | None = None,
        grad: Callable[[Vector], Any] | None = None,
        dim: int | None = None,
        convex: bool = False,
        smoothness: float | None = None,
        value_and_grad: Callable[[Vector], Any] | None = None,
        hvp: Callable[[Vector, Vector], Any] | None = None,
        lower_bound: float = -np.inf,
        lipschitz: float | None = None,
    ) -> None:
        both = value_and_grad is not None
        for name, function in (("value_and_grad", value_and_grad), ("hvp", hvp)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be callable, got {type(function).__name__}")
        if not callable(value) and not (value is None and both):
            raise TypeError(f"value must be a callable x -> float, got {type(value).__name__}")
        if not callable(grad) and not (grad is None and both):
            raise TypeError("a Function needs its gradient: pass grad=, a callable x -> array of the shape of x")
        self._value, self._grad, self._both, self._hvp = value, grad, value_and_grad, hvp
        self.dim = None if dim is None else as_count(dim, "dim")
        self.convex = as_flag(convex, "convex")
        self._smoothness = None if smoothness is None else as_scalar(smoothness, "smoothness")
        if self._smoothness is not None and self._smoothness < 0:
            raise ValueError(f"smoothness must be nonnegative, got {self._smoothness:g}")
        self.lower_bound = -np.inf if _is_minus_infinity(lower_bound) else as_scalar(lower_bound, "lower_bound")
        self._lipschitz = None if lipschitz is None else as_positive(lipschitz, "lipschitz")
        if lipschitz is not None and smoothness is not None:
            raise ValueError("give smoothness of a smooth function, or lipschitz of one that need not be, not both")
        self.differentiable = lipschitz is None
        facts = {
            "convexity": self.convex, "lower_bound": np.isfinite(self.lower_bound), "smoothness": self._smoothness,
            "lipschitz": self._lipschitz,
        }  # fmt: skip
        given = ["value", "gradient", *(fact for fact, value in facts.items() if value not in (None, False))]
        self.claims = f"{', '.join(given[:-1])} and {given[-1]} are as given"

    @property
    def smoothness(self) -> float | None:
        """As given."""
        return self._smoothness

    @property
    def lipschitz(self) -> float | None:
        """As given."""
        return self._lipschitz

    def value(self, x: Vector) -> float:
        if self._value is None:
            return self.value_and_grad(x)[0]
        point = self._point(x)
        return float(real_copy(call("value(x)", self._value, point), "value(x)", ()))

    def grad(self, x: Vector) -> Vector:
        if self._grad is None:
            return self.value_and_grad(x)[1]
        point = self._point(x)
        return real_copy(call("grad(x)", self._grad, point), "grad(x)", point.shape)

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        if self._both is None:
            return self.value(x), self.grad(x)
        point = self._point(x)
        answer = call("value_and_grad(x)", self._both, point)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError("value_and_grad(x) must return two things: the value and the gradient")
        value = float(real_copy(answer[0], "value_and_grad(x)[0]", ()))
        return value, real_copy(answer[1], "value_and_grad(x)[1]", point.shape)

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        if self._hvp is None:
            return None
        point = self._point(x)
        return real_copy(call("hvp(x, d)", self._hvp, point, direction), "hvp(x, d)", point.shape)


def _is_minus_infinity(bound: Any) -> bool:
    return isinstance(bound, (float, np.floating)) and bool(bound == -np.inf)
