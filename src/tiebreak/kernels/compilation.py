"""The side of numba: what it is told of the functions that kernels call, and what it is allowed to compile."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, cast

from .registry import HAS_NUMBA, REGISTRY, Kernel, NotCompiled

if HAS_NUMBA:
    from numba import njit
    from numba.core.event import Event, Listener, register
    from numba.extending import overload
else:  # then nothing calls what is here, but tools may import it
    Listener = object

Function = Callable[..., Any]


class Boundary(Listener):  # type: ignore[misc]
    """Makes kernels known to numba, which asks here before it compiles one and tells when it is done.

    numba looks for machine code on disk first, so that it asks only where there is none.
    """

    def __init__(self) -> None:
        self._known: set[Function] = set()
        self._kernels: dict[object, Kernel] = {}
        self._lock = threading.Lock()
        self._began = inf

    def dispatcher(self, kernel: Kernel) -> Function:
        """A kernel's function, to be loaded from disk or compiled at its first call."""
        with self._lock:
            self._tell_numba()
            function, freedom = REGISTRY.sources.get(kernel.plain, (kernel.plain, frozenset()))
            marked = _marked(cast(FunctionType, function))
            options = {**_options(freedom), "no_cfunc_wrapper": True}
            try:
                fast = njit(cache=True, **options)(marked)
            except RuntimeError:  # nowhere to keep the machine code: a read-only home, or a function typed in by hand
                fast = njit(**options)(marked)
            self._kernels[fast] = kernel
            return cast(Function, fast)

    def _tell_numba(self) -> None:
        """Let compiled code find what stands for each function that it calls."""
        for plain, (function, freedom) in list(REGISTRY.sources.items()):
            if plain not in self._known:
                self._known.add(plain)
                options = {**_options(freedom), "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
                overload(plain, jit_options=options, strict=False)(_always(function))

    def on_start(self, event: Event) -> None:
        kernel = self._kernels.get(event.data["dispatcher"])
        if kernel is None:  # a part of one, or someone else's function
            return
        if not kernel.group.worth:
            kernel.group.tell(
                "%s: not compiled on this machine yet, which takes about %.0f s; "
                "`tiebreak warm-up` does it, or else a run that is long enough to pay for it"
            )
            raise NotCompiled
        kernel.group.tell("compiling %s, once for this machine: about %.0f s; `tiebreak warm-up` does it ahead")
        self._began = time.perf_counter()

    def on_end(self, event: Event) -> None:
        kernel = self._kernels.get(event.data["dispatcher"])
        if kernel is not None and self._began < inf:
            took, self._began = time.perf_counter() - self._began, inf
            kernel.built += 1
            kernel.seconds += took
            REGISTRY.seconds += took


BOUNDARY = Boundary()
if HAS_NUMBA:
    register("numba:compile", BOUNDARY)


def _options(freedom: frozenset[str]) -> dict[str, Any]:
    return {"fastmath": set(freedom), "error_model": "numpy"}


def _always(function: Function) -> Function:
    return lambda *arguments, **named: function


def _marked(function: FunctionType) -> FunctionType:
    """The function under a name that changes with all that is compiled into it: numba itself looks only at the file of
    the outermost function for changes."""
    mark, seen, files = hashlib.sha256(), {function}, set()
    todo = [function]
    while todo:
        one = todo.pop()
        files.add(one.__code__.co_filename)
        for name in _names(one.__code__):
            value = one.__globals__.get(name)
            if isinstance(value, (int, float, tuple)):
                mark.update(f"{name}={value!r}".encode())
            elif isinstance(value, FunctionType) and value in REGISTRY.sources:
                inner = cast(FunctionType, REGISTRY.sources[value][0])
                if inner not in seen:
                    seen.add(inner)
                    todo.append(inner)
    for file in sorted(filter(os.path.exists, files)):
        mark.update(Path(file).read_bytes())
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__module__, copy.__doc__ = function.__module__, function.__doc__
    copy.__qualname__ = f"{function.__qualname__}_{mark.hexdigest()[:12]}"
    return copy


def _names(code: CodeType) -> list[str]:
    inner = [name for one in code.co_consts if isinstance(one, CodeType) for name in _names(one)]
    return sorted({*code.co_names, *inner})
