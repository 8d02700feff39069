"""The door to JAX: functions in, as objectives with their derivatives; answers out, as layers with theirs.

Both work in double precision, whatever the configuration of JAX says, and leave that configuration alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import Vector
from .layers import Parameters, Solved
from .objectives import Function
from .problem import Problem

try:
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree
except ImportError as error:
    raise ImportError("tiebreak.jax needs JAX: pip install 'tiebreak[jax]'") from error


def _double() -> Any:
    """Double precision inside a with statement, in any version of JAX."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


class JaxFunction(Function):
    """An objective made by ``from_jax``; ``unflatten(x)`` gives parameters back in the shape of its template."""

    unflatten: Callable[[Vector], Any]


def from_jax(
    fn: Callable[[Any], Any],
    template: Any = None,
    *,
    dim: int | None = None,
    convex: bool = False,
    smoothness: float | None = None,
    lower_bound: float = -np.inf,
) -> JaxFunction:
    """An objective from a function written in JAX: compiled, in double precision, with its derivatives.

    Parameters
    ----------
    fn : callable
        A function of one argument that returns a real number; JAX must be able to trace it.
    template : pytree of arrays, optional
        What ``fn`` takes, where that is not a vector: x is then all its leaves, one after the other, and
        ``objective.unflatten(x)`` gives a pytree back.
    dim : int, optional
        The length of x, where there is no template.
    convex, smoothness, lower_bound
        As for ``Function``: what you say of ``fn``. Certificates name it.

    Returns
    -------
    Function
        With value and gradient in one pass, and products with the Hessian.

    Raises
    ------
    TypeError
        When called, where ``fn`` returns single precision or something that is not a real number.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import tiebreak as tb
    >>> f = tb.from_jax(lambda p: jnp.sum(jnp.exp(p["w"])) + p["c"] ** 2, {"c": 1.0, "w": jnp.zeros(2)}, convex=True)
    >>> f.dim, f.value([2.0, 0.0, 0.0]), f.grad([2.0, 0.0, 0.0]).tolist()
    (3, 6.0, [4.0, 1.0, 1.0])
    """
    if not callable(fn):
        raise TypeError(f"fn must be a function that JAX can trace, got {type(fn).__name__}")
    unravel: Callable[[Any], Any] | None = None
    if template is not None:
        with _double():
            as_double = jax.tree_util.tree_map(lambda leaf: jnp.asarray(np.asarray(leaf, dtype=np.float64)), template)
            flat, unravel = ravel_pytree(as_double)
        if dim is not None and dim != flat.size:
            raise ValueError(f"dim is {dim}, but the template has {flat.size} numbers")
        dim = int(flat.size)

    def scalar(x: Any) -> Any:
        value = jnp.asarray(fn(x if unravel is None else unravel(x)))
        if value.shape != ():
            raise TypeError(f"fn must return a single number, got an array of shape {value.shape}")
        if value.dtype != jnp.float64:
            raise TypeError(
                f"fn returned {value.dtype} for arguments in float64: bounds need double precision throughout, so "
                "let no array or cast inside it be of lower precision"
            )
        return value

    compiled = jax.jit(scalar)
    both = jax.jit(jax.value_and_grad(scalar))
    bent = jax.jit(lambda x, d: jax.jvp(jax.grad(scalar), (x,), (d,))[1])

    def run(function: Callable[..., Any], *arguments: Vector) -> Any:
        with _double():
            return jax.tree_util.tree_map(np.asarray, function(*map(jnp.asarray, arguments)))

    made = JaxFunction(
        lambda x: run(compiled, x),
        lambda x: run(both, x)[1],
        dim=dim,
        convex=convex,
        smoothness=smoothness,
        value_and_grad=lambda x: run(both, x),
        hvp=lambda x, d: run(bent, x, d),
        lower_bound=lower_bound,
    )

    def unflatten(x: Vector) -> Any:
        if unravel is None:
            return np.array(x)
        with _double():
            return unravel(jnp.asarray(np.asarray(x, dtype=np.float64)))

    made.unflatten = unflatten
    return made


def layer(
    problem: Callable[..., Problem], parameters: Parameters, *, dim: int, side: str = "", **options: Any
) -> Callable[..., Any]:
    """The answer of a problem as a function that JAX differentiates (backwards), also under ``jit`` and ``vmap``.

    Parameters
    ----------
    problem : callable
        Makes a Problem from arrays, one argument for each of ``parameters``.
    parameters : sequence of (level, name) or ("domain", name)
        What each argument is in the problem: the number of its level (0 is the first, -1 the last) and the name of
        its derivative there (A, b, c, q, Q, center, weights, scale, slack), or "domain" and low, high, lower, upper,
        A_ub, b_ub, A_eq, b_eq, radius, trace, center, b. An argument with one more axis than such
        data have is a batch. All must be data that have a
        derivative; what stays as it is belongs into ``problem`` itself.
    dim : int
        The number of variables: JAX has to know it before the problem is made.
    side : {"held", "free"}, optional
        As for ``Result.vjp``.
    **options
        For ``solve``.

    Returns
    -------
    callable
        ``solve(*arrays) -> x``, an array of the precision of JAX's configuration.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> import tiebreak as tb
    >>> from tiebreak.jax import layer
    >>> def smallest(b):
    ...     return tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], b), tb.Box(-9, 9))
    >>> x = layer(smallest, [(0, "b")], dim=2)
    >>> jax.grad(lambda b: x(b)[0] ** 2)(jnp.array([1.0])).round(5).tolist()
    [0.5]
    """
    solved = Solved(problem, parameters, options, side)

    def solution(*arrays: Any) -> Any:
        kind = jnp.result_type(float)
        return jax.pure_callback(
            lambda *given: np.asarray(solved.answer(*given), dtype=kind),
            jax.ShapeDtypeStruct((dim,), kind),
            *arrays,
            vmap_method="sequential",
        )

    def forward(*arrays: Any) -> tuple[Any, tuple[Any, ...]]:
        return answer(*arrays), arrays

    def backward(arrays: tuple[Any, ...], dx: Any) -> tuple[Any, ...]:
        shapes = tuple(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in arrays)

        def pull(slope: Any, *given: Any) -> tuple[Any, ...]:
            found = solved.pull(slope, *given)
            return tuple(np.asarray(one, dtype=kind.dtype) for one, kind in zip(found, shapes, strict=True))

        return tuple(jax.pure_callback(pull, shapes, dx, *arrays, vmap_method="sequential"))

    answer = jax.custom_vjp(solution)
    answer.defvjp(forward, backward)

    def apply(*arrays: Any) -> Any:
        floats = [jnp.asarray(one, dtype=jnp.result_type(float)) for one in arrays]
        batches = solved.batched([one.ndim for one in floats])
        if not any(batches):
            return answer(*floats)
        return jax.vmap(answer, in_axes=tuple(0 if one else None for one in batches))(*floats)

    return apply
