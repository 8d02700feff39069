"""The door to PyTorch: functions in, as objectives with their derivatives; answers out, as a module with theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arrays import Vector
from .layers import Parameters, Solved
from .objectives import Function
from .problem import Problem

try:
    import torch
except ImportError as error:
    raise ImportError("tiebreak.torch needs PyTorch: pip install 'tiebreak[torch]'") from error


class TorchFunction(Function):
    """An objective made by ``from_torch``; ``unflatten(x)`` gives tensors back in the shapes of its template."""

    unflatten: Callable[[Vector], Any]


def from_torch(
    fn: Callable[[Any], Any],
    template: Any = None,
    *,
    device: Any = "cpu",
    dim: int | None = None,
    convex: bool = False,
    smoothness: float | None = None,
    lower_bound: float = -np.inf,
    compiled: bool = False,
) -> TorchFunction:
    """An objective from a function written in PyTorch: in double precision, with its derivatives.

    Parameters
    ----------
    fn : callable
        A function of one argument, a tensor or what ``template`` is, that returns a tensor of a single number.
    template : tensor, or dict of tensors, optional
        What ``fn`` takes, where that is not a vector: x is then all of it, one after the other, and
        ``objective.unflatten(x)`` gives the same shapes back. ``dict(module.named_parameters())`` is one, for
        ``torch.func.functional_call``.
    device : str or torch.device
        Where ``fn`` is computed; it must have double precision.
    dim : int, optional
        The length of x, where there is no template.
    convex, smoothness, lower_bound
        As for ``Function``: what you say of ``fn``. Certificates name it.
    compiled : bool
        Whether ``fn`` goes through ``torch.compile`` first; that needs a C++ compiler.

    Returns
    -------
    Function
        With value and gradient in one pass, and products with the Hessian.

    Raises
    ------
    TypeError
        When called, where ``fn`` returns single precision or something that is not a single number.

    Examples
    --------
    >>> import torch
    >>> import tiebreak as tb
    >>> f = tb.from_torch(lambda p: p["w"].exp().sum() + p["c"] ** 2, {"c": torch.tensor(1.0), "w": torch.zeros(2)})
    >>> f.dim, f.value([2.0, 0.0, 0.0]), f.grad([2.0, 0.0, 0.0]).tolist()
    (3, 6.0, [4.0, 1.0, 1.0])
    """
    if not callable(fn):
        raise TypeError(f"fn must be a function of tensors, got {type(fn).__name__}")
    where = torch.device(device)
    shapes = None if template is None else _shapes(template)
    if shapes is not None:
        count = sum(_numbers(shape) for shape in shapes.values())
        if dim is not None and dim != count:
            raise ValueError(f"dim is {dim}, but the template has {count} numbers")
        dim = count
    function = torch.compile(fn) if compiled else fn
    single = template is not None and not isinstance(template, Mapping)

    def arranged(x: Any) -> Any:
        if shapes is None:
            return x
        parts, found = torch.split(x, [_numbers(shape) for shape in shapes.values()]), {}
        for (name, shape), part in zip(shapes.items(), parts, strict=True):
            found[name] = part.reshape(shape)
        return found[""] if single else found

    def scalar(x: Any) -> Any:
        value = function(arranged(x))
        if not isinstance(value, torch.Tensor) or value.shape != ():
            what = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
            raise TypeError(f"fn must return a tensor of a single number (shape ()), got {what}")
        if value.dtype != torch.float64:
            raise TypeError(
                f"fn returned {value.dtype} for arguments in float64: bounds need double precision throughout, so "
                "let no tensor or cast inside it be of lower precision"
            )
        return value

    def tensor(x: Vector, differentiated: bool = False) -> Any:
        return torch.tensor(x, dtype=torch.float64, device=where, requires_grad=differentiated)

    def value(x: Vector) -> float:
        with torch.no_grad():
            return float(scalar(tensor(x)))

    def value_and_grad(x: Vector) -> tuple[float, Vector]:
        point = tensor(x, True)
        with torch.enable_grad():
            found = scalar(point)
            (slope,) = torch.autograd.grad(found, point, materialize_grads=True)
        return float(found.detach()), slope.detach().cpu().numpy()

    def hvp(x: Vector, d: Vector) -> Vector:
        point = tensor(x, True)
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(scalar(point), point, create_graph=True, materialize_grads=True)
            along = slope @ tensor(d)
            if not along.requires_grad:
                return np.zeros(x.size)
            (bent,) = torch.autograd.grad(along, point, materialize_grads=True)
        return np.asarray(bent.detach().cpu().numpy())

    made = TorchFunction(
        value,
        lambda x: value_and_grad(x)[1],
        dim=dim,
        convex=convex,
        smoothness=smoothness,
        value_and_grad=value_and_grad,
        hvp=hvp,
        lower_bound=lower_bound,
    )
    made.unflatten = lambda x: arranged(tensor(np.asarray(x, dtype=np.float64)))
    return made


def _shapes(template: Any) -> dict[str, tuple[int, ...]]:
    named = template if isinstance(template, Mapping) else {"": template}
    return {str(name): tuple(torch.as_tensor(one).shape) for name, one in named.items()}


def _numbers(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=int))


class _Answer(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, solved: Solved, *tensors: Any) -> Any:
        ctx.solved = solved
        ctx.save_for_backward(*tensors)
        x = solved.answer(*(one.detach().cpu().numpy() for one in tensors))
        return torch.as_tensor(np.array(x), dtype=tensors[0].dtype, device=tensors[0].device)

    @staticmethod
    def backward(ctx: Any, dx: Any) -> Any:
        arrays = [one.detach().cpu().numpy() for one in ctx.saved_tensors]
        wanted = ctx.needs_input_grad[1:]
        pulled = ctx.solved.pull(dx.detach().cpu().numpy(), *arrays, wanted=wanted)
        back = [
            None if one is None else torch.as_tensor(np.array(one), dtype=given.dtype, device=given.device)
            for one, given in zip(pulled, ctx.saved_tensors, strict=True)
        ]
        return None, *back


class Layer(torch.nn.Module):  # type: ignore[misc]
    """The answer of a problem as a module that PyTorch differentiates.

    Parameters
    ----------
    problem : callable
        Makes a Problem from arrays, one argument for each of ``parameters``.
    parameters : sequence of (level, name) or ("domain", name)
        What each argument is in the problem: the number of its level (0 is the first, -1 the last) and the name of
        its derivative there (A, b, c, q, Q, center, weights, scale, slack), or "domain" and low, high, lower, upper,
        A_ub, b_ub, A_eq, b_eq, radius, trace, center, b. Tensors with one more axis
        than such data have are batches.
    side : {"held", "free"}, optional
        As for ``Result.vjp``.
    **options
        For ``solve``.

    Examples
    --------
    >>> import torch
    >>> import tiebreak as tb
    >>> from tiebreak.torch import Layer
    >>> def smallest(b):
    ...     return tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], b), tb.Box(-9, 9))
    >>> b = torch.tensor([[1.0], [3.0]], dtype=torch.float64, requires_grad=True)
    >>> x = Layer(smallest, [(0, "b")])(b)
    >>> x.shape, torch.autograd.grad((x**2).sum(), b)[0].round(decimals=9).tolist()
    (torch.Size([2, 2]), [[1.0], [3.0]])
    """

    def __init__(
        self, problem: Callable[..., Problem], parameters: Parameters, *, side: str = "", **options: Any
    ) -> None:
        super().__init__()
        self.solved = Solved(problem, parameters, options, side)

    def forward(self, *tensors: Any) -> Any:
        """x, or a batch of such."""
        batches = self.solved.batched([one.ndim for one in tensors])
        if not any(batches):
            return _Answer.apply(self.solved, *tensors)
        sizes = {len(one) for one, is_batch in zip(tensors, batches, strict=True) if is_batch}
        if len(sizes) > 1:
            raise ValueError(f"batches must have one length, got {sorted(sizes)}")
        rows = [
            [one[i] if is_batch else one for one, is_batch in zip(tensors, batches, strict=True)]
            for i in range(sizes.pop())
        ]
        return torch.stack([_Answer.apply(self.solved, *row) for row in rows])
