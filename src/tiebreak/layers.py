"""What the layers for JAX and PyTorch share: arrays in, answers and pulled-back derivatives out, one at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .arrays import Vector
from .problem import Problem
from .result import Result
from .solve import solve

Parameters: TypeAlias = Sequence[tuple[int | str, str]]
"""(level, name) or ("domain", name), for each argument."""

AXES = {"A": 2, "A_ub": 2, "A_eq": 2, "Q": 2} | dict.fromkeys(
    ("scale", "radius", "trace", "slack", "relative_slack"), 0
)
"""How many axes data have; one of all others. An argument with one more is a batch."""

REMEMBERED = 256
"""Answers kept for the way back."""


class Solved:
    """Problems made from arrays, solved, with derivatives; ``problem`` and ``parameters`` as for the layers."""

    def __init__(
        self, problem: Callable[..., Problem], parameters: Parameters, options: dict[str, Any], side: str = ""
    ) -> None:
        if not callable(problem):
            raise TypeError(
                f"problem must be a function that makes a Problem from arrays, got {type(problem).__name__}; "
                "write for example lambda b: tb.Problem(upper, tb.LeastSquares(A, b), domain)"
            )
        if not all(isinstance(one, tuple) and len(one) == 2 for one in parameters):
            raise TypeError('parameters must be pairs such as (0, "b") or ("domain", "upper"), one for each argument')
        self.make, self.parameters, self.options, self.side = problem, tuple(parameters), options, side
        self._known: OrderedDict[tuple[bytes, ...], Result] = OrderedDict()

    def check(self, count: int) -> None:
        """Whether there are as many arguments as parameters."""
        if count != len(self.parameters):
            raise TypeError(f"this layer has {len(self.parameters)} parameters, but was given {count} arrays")

    def batched(self, ndims: Sequence[int]) -> tuple[bool, ...]:
        """Which arguments are batches."""
        self.check(len(ndims))
        usual = [AXES.get(name.rpartition(".")[2], 1) for _, name in self.parameters]
        for (_, name), own, most in zip(self.parameters, ndims, usual, strict=True):
            if own > most + 1:
                raise ValueError(f"{name} has at most {most} axes, and one more for a batch, got {own}")
        return tuple(own > most for own, most in zip(ndims, usual, strict=True))

    def answer(self, *arrays: Any) -> Vector:
        """x; raises where the run is no success."""
        return self._result(arrays).x

    def pull(self, dx: Any, *arrays: Any, wanted: Sequence[bool] | None = None) -> list[NDArray[np.float64] | None]:
        """Derivatives of <dx, x> with respect to each array; None for those that are not wanted."""
        found = self._result(arrays).vjp(np.asarray(dx, dtype=np.float64), side=self.side)
        pulled: list[NDArray[np.float64] | None] = []
        for (where, name), given, asked in zip(self.parameters, arrays, wanted or [True] * len(arrays), strict=True):
            if not asked:
                pulled.append(None)
                continue
            shape = np.shape(given)
            own = _of_domain(found.domain, name, shape) if where == "domain" else found.levels[int(where)][name]
            pulled.append(_in_shape(np.asarray(own), shape, name))
        return pulled

    def _result(self, arrays: Sequence[Any]) -> Result:
        given = [np.array(one, dtype=np.float64) for one in arrays]
        key = tuple(one.tobytes() for one in given)
        if key in self._known:
            return self._known[key]
        result = solve(self.make(*given), **self.options)
        if not result.success:
            raise RuntimeError(f"the layer has no answer: {result.message}")
        self._known[key] = result
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return result


def _of_domain(found: Any, name: str, shape: tuple[int, ...]) -> Any:
    """By the names of the description, or by those of a Polyhedron (A_ub, b_ub, A_eq, b_eq) and of balls (radius)."""
    if name in found or name not in ("A_ub", "b_ub", "A_eq", "b_eq", "radius"):
        return found[name]
    of = found["A"] if name[0] == "A" else found["high"]
    count = shape[0] if shape else 1
    if count > len(of) or (name == "radius" and len(of) != 1):
        raise ValueError(f"the domain has no {name} of shape {shape}")
    return of[len(of) - count :] if name.endswith("eq") else of[:count]


def _in_shape(value: NDArray[np.float64], shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    if shape == () or value.size == int(np.prod(shape)):
        return np.asarray(value.sum() if shape == () else value.reshape(shape))
    raise ValueError(f"{name} has shape {value.shape} in the problem, but the argument has shape {shape}")
