"""Least squares on sparse rows in one pass over the data.

It has no twin here: uncompiled, the two products of SciPy do the same (``DataMatrix.squares``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .registry import FUSED, Group, Kernel, loop

Array = NDArray[np.float64]
Indices = NDArray[np.uint32] | NDArray[np.uint64]

AHEAD = 256  # entries: what memory delivers while they are used arrives in time


def _prefetch() -> Any:
    """A function that asks for an entry of an array before it is needed: an instruction of the processor."""
    try:
        from llvmlite import ir
        from numba import types
        from numba.extending import intrinsic
    except ImportError:
        return lambda array, i: None

    def ask(typing: Any, array: Any, i: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            form = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], form)
            place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
            builder.call(instruction, [place, *(ir.Constant(number, n) for n in (0, 3, 1))])  # to read, keep, data
            return context.get_dummy_value()

        return types.void(array, i), code

    return intrinsic(ask)


prefetch = _prefetch()


@loop(FUSED)
def squares_by_rows(data: Array, index: Indices, starts: NDArray[Any], x: Vector, b: Vector, grad: Vector) -> float:
    """||A x - b||^2 and, in ``grad``, A'(A x - b) for the rows of A, each of which is read once for both.

    Entries of x lie beside those of the gradient, so that a row finds in the cache for the second what it fetched for
    the first. Indices and counters have no sign: none need be checked for counting from the end.
    """
    one, four, ahead = np.uint64(1), np.uint64(4), np.uint64(AHEAD)
    both = np.zeros((x.size, 2))
    for j in range(x.size):
        both[j, 0] = x[j]
    value = 0.0
    for i in range(b.size):
        k, end = np.uint64(starts[i]), np.uint64(starts[i + 1])
        p = q = 0.0
        while k + four <= end:
            prefetch(data, k + ahead)
            prefetch(index, k + ahead)
            for _ in range(2):
                p += data[k] * both[index[k], 0]
                q += data[k + one] * both[index[k + one], 0]
                k += one + one
        while k < end:
            p += data[k] * both[index[k], 0]
            k += one
        rest = p + q - b[i]
        value += rest * rest
        k = np.uint64(starts[i])
        while k < end:
            both[index[k], 1] += rest * data[k]
            k += one
    for j in range(x.size):
        grad[j] = both[j, 1]
    return value


fast_squares_by_rows = Kernel(squares_by_rows, Group("least squares on sparse rows", 1.0))
