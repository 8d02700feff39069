"""Inner loops, compiled where numba is there: ``pip install 'tiebreak[fast]'``.

A kernel is written once, as a loop over arrays that runs compiled or not; what would be slow uncompiled stands twice,
on NumPy and in loops, one below the other (``twin``). The files are named for what they compute; longer loops stay
beside the algorithm they belong to (``loop``). ``registry.py`` decides what runs, and compiles.

Kernels work on numbers and flat float64 arrays. What Python calls (``Kernel``) may take arrays and named tuples but
returns numbers and plain tuples of numbers only; vectors are written into arrays that it is given. To return an array
or a named tuple numba calls Python code and does not look whether that failed: a Ctrl-C that Python takes up there is a
segmentation fault.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .registry import (
    FUSED,
    HAS_NUMBA,
    SUMS,
    Group,
    Kernel,
    NotCompiled,
    allow_all,
    clock,
    kernels,
    loop,
    twin,
    twins,
    wanted,
)

__all__ = [
    "FUSED", "HAS_NUMBA", "SUMS", "Group", "Kernel", "NotCompiled", "allow_all", "clock", "flat", "kernels", "loop",
    "twin", "twins", "wanted",
]  # fmt: skip


def flat(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """v as kernels want it, copied only if need be: every other layout would be compiled for anew.

    Examples
    --------
    >>> flat(np.arange(6.0)[::2]).flags.c_contiguous
    True
    """
    return v if v.flags.c_contiguous and v.flags.writeable else v.copy()
