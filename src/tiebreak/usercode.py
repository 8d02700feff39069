"""Calls of functions that a user wrote: they get copies, and what they return is checked and copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class OracleError(ValueError):
    """A function or a set that a user wrote contradicts itself, or what is claimed for it.

    Examples
    --------
    >>> import tiebreak as tb
    >>> wrong = tb.Function(lambda x: x @ x, lambda x: -x, dim=1, convex=True)  # the sign of the gradient
    >>> try:
    ...     tb.solve(tb.Problem(tb.SquaredNorm(), wrong, tb.Box([-1.0], [1.0])))
    ... except tb.OracleError as error:
    ...     print(type(error).__name__)
    GradientError
    """


def call(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What ``function`` returns for copies of the arguments, which it may then change in place.

    Its errors go on as they are, except for ``StopIteration``: that would end a loop of the library as if all were
    well.
    """
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        return function(*copies)
    except StopIteration as stop:
        raise RuntimeError(f"{name} raised StopIteration; let it return a value, or raise another error") from stop


def real_copy(output: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """What ``name`` returned, as a float64 array of its own; whether it is finite is for the caller to see."""
    if isinstance(output, np.ma.MaskedArray) and np.ma.getmaskarray(output).any():
        raise ValueError(f"{name} must return numbers, got a masked array with masked entries")
    try:
        array = np.asarray(output)
    except ValueError:
        raise ValueError(f"{name} must return {_in_words(shape)}, got a ragged {type(output).__name__}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must return real numbers, got {type(output).__name__} of dtype {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} must return {_in_words(shape)}, got shape {array.shape}")
    return np.array(array, dtype=np.float64)


def _in_words(shape: tuple[int, ...]) -> str:
    return "a single number" if shape == () else f"an array of shape {shape}"
