"""Compiled twins of the innermost loops, for those who install numba: ``pip install 'tiebreak[fast]'``.

Every kernel has a twin in plain NumPy elsewhere in the library, which runs where numba is missing or the environment
variable ``TIEBREAK_NO_NUMBA`` is set. Kernels work on numbers and flat float64 arrays. They are imported when
first asked for and compiled when first called; the machine code is kept on disk.

What Python calls may take arrays and named tuples but returns numbers and plain tuples of numbers only; vectors are
written into arrays that it is given. To return an array or a named tuple numba calls Python code and does not look
whether that failed: a Ctrl-C that Python takes up there is a segmentation fault.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

HOMES = {
    "axis_cut": "axes",
    "next_axis_cut": "axes",
    "threshold_to_sum": "threshold",
    "logistic_link": "logistic",
    "fair_links": "logistic",
    "two_products": "logistic",
    "blend": "blend",
    "split_columns": "spheres",
    "sphere_excess": "spheres",
    "ball_point": "spheres",
    "inner": "spheres",
    "corners": "corners",
    "move_to_corners": "corners",
    "copy_columns": "corners",
    "dots": "dense",
    "mix": "dense",
    "rank_one": "dense",
    "factorise": "dense",
    "solve_factored": "dense",
    "assign": "dense",
    "advance": "dense",
    "highest": "dense",
    "put": "dense",
    "put_column": "dense",
    "gather": "dense",
    "scatter": "dense",
    "steepest": "dense",
    "ratio": "dense",
    "picked": "dense",
    "lay": "dense",
    "product": "dense",
    "gains": "sweep",
    "short_list": "sweep",
    "columns": "sweep",
    "fresh_codes": "sweep",
    "norms": "sweep",
    "bends": "sweep",
    "on_face": "sweep",
    "entries": "sweep",
    "squares_with_errors": "bounds",
    "column_norms": "bounds",
    "squares_by_rows": "sparse",
}
"""The kernels, and the module of this package that holds each."""


def compiled(name: str) -> Callable[..., Any] | None:
    """The kernel of that name, or None where numba is missing or unwanted.

    Examples
    --------
    >>> compiled("axis_cut") is None or callable(compiled("axis_cut"))
    True
    """
    return None if os.environ.get("TIEBREAK_NO_NUMBA") else _load(name)


def compiled_loop(loop: F, **kernels: str | Callable[..., Any]) -> F:
    """The function compiled, with these kernels in the place of globals of its module; as it is without numba.

    So a loop over kernels is written once, and calls their plain twins where it is not compiled. Functions that such a
    loop calls are given as ``compiled_loop`` returns them.
    """
    return cast(F, compiled_loops(loop, **kernels)[0])


def compiled_loops(*loops: Callable[..., Any], **kernels: str | Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """The same for functions that call one another."""
    if os.environ.get("TIEBREAK_NO_NUMBA") or find_numba() is None:
        return loops
    return _rebuilt(loops, tuple(kernels.items()))


@cache
def _rebuilt(
    loops: tuple[Callable[..., Any], ...], kernels: tuple[tuple[str, str | Callable[..., Any]], ...]
) -> tuple[Callable[..., Any], ...]:
    from .jit import jit

    others: dict[str, Any] = {name: _load(kernel) if isinstance(kernel, str) else kernel for name, kernel in kernels}
    twins, edition = [], _edition([*loops, *others.values()])
    for loop in cast(tuple[FunctionType, ...], loops):
        twin = FunctionType(loop.__code__, {**loop.__globals__})
        update_wrapper(twin, loop)
        del twin.__dict__["__wrapped__"]
        twin.__qualname__ += edition
        twins.append(twin)
        others[loop.__name__] = jit()(twin)
    for twin in twins:
        twin.__globals__.update(others)
    return tuple(others[loop.__name__] for loop in loops)


def _edition(functions: list[Callable[..., Any]]) -> str:
    """A mark of the sources: numba itself looks only at the file of the outermost function for changes."""
    mark = hashlib.sha256(" ".join(function.__qualname__ for function in functions).encode())
    for name in sorted({function.__module__ for function in functions}):
        mark.update(Path(str(sys.modules[name].__file__)).read_bytes())
    return f"_{mark.hexdigest()[:12]}"


def flat(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """v as kernels want it, copied only if need be: every other layout would be compiled for anew.

    Examples
    --------
    >>> flat(np.arange(6.0)[::2]).flags.c_contiguous
    True
    """
    return v if v.flags.c_contiguous and v.flags.writeable else v.copy()


@cache
def find_numba() -> ModuleSpec | None:
    """Whether numba is there."""
    return find_spec("numba")


@cache
def _load(name: str) -> Callable[..., Any] | None:
    if find_numba() is None:
        return None
    kernel: Callable[..., Any] = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    return kernel
