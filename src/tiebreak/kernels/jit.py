"""The decorators of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

SUMS = frozenset({"nsz", "reassoc", "contract"})
"""Freedom to take sums in any order, several terms at a time."""

FUSED = frozenset({"contract"})
"""Freedom to round a product and a sum once."""


def jit(freedom: frozenset[str] = frozenset()) -> Callable[[F], F]:
    """Compile at the first call, without Python objects; leave the function alone where numba is missing.

    ``freedom`` names what the compiler may do with floating-point numbers beyond the standard.

    Examples
    --------
    >>> @jit()
    ... def twice(x: float) -> float:
    ...     return 2 * x
    >>> twice(1.5)
    3.0
    """

    def decorate(function: F) -> F:
        try:
            from numba import njit
        except ImportError:
            return function
        options = {"fastmath": set(freedom), "error_model": "numpy"}
        try:
            return cast(F, njit(cache=True, **options)(function))
        except RuntimeError:  # nowhere to keep the machine code: a read-only home, or a function typed in by hand
            return cast(F, njit(**options)(function))

    return decorate
