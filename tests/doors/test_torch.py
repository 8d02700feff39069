"""The door to PyTorch: functions in, layers out. ``make doors`` has PyTorch; elsewhere these tests are skipped."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb

torch = pytest.importorskip("torch", reason="PyTorch is not installed; make doors installs it")

A = np.random.default_rng(0).normal(size=(3, 6))
b = np.array([0.1, 0.2, 0.3])


def double(values, **options):
    return torch.tensor(values, dtype=torch.float64, **options)


def test_derivatives_in_double_precision() -> None:
    f = tb.from_torch(lambda x: torch.cosh(x - 1).sum(), dim=6, convex=True)
    x, d = np.linspace(-1, 1, 6), np.arange(6.0)
    value, grad = f.value_and_grad(x)
    assert value == pytest.approx(np.cosh(x - 1).sum(), rel=1e-15)
    assert f.value(x) == pytest.approx(value, rel=1e-15)
    assert grad == pytest.approx(np.sinh(x - 1), rel=1e-14)
    assert f.hessian_times(x, d) == pytest.approx(np.cosh(x - 1) * d, rel=1e-14)
    assert torch.get_default_dtype() == torch.float32
    linear = tb.from_torch(lambda x: x.sum(), device=torch.device("cpu"))
    assert linear.hessian_times(x, d).tolist() == [0.0] * 6


def test_the_parameters_of_a_module_are_flattened_and_given_back() -> None:
    module = torch.nn.Linear(2, 1).double()
    inputs, targets = double([[1.0, 2.0], [3.0, 4.0]]), double([[1.0], [2.0]])

    def loss(parameters):
        return ((torch.func.functional_call(module, parameters, inputs) - targets) ** 2).sum()

    f = tb.from_torch(loss, dict(module.named_parameters()), convex=True)
    assert f.dim == 3
    assert f.value([1.0, 0.0, 0.5]) == pytest.approx((1.5 - 1) ** 2 + (3.5 - 2) ** 2)
    back = f.unflatten(np.array([1.0, 2.0, 3.0]))
    assert {name: tuple(one.shape) for name, one in back.items()} == {"weight": (1, 2), "bias": (1,)}
    assert back["weight"].tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match="the template has 3 numbers"):
        tb.from_torch(loss, dict(module.named_parameters()), dim=4)
    square = tb.from_torch(lambda M: torch.trace(M @ M.T), torch.zeros(2, 2))
    assert square.value([1.0, 2.0, 3.0, 4.0]) == 30.0


def test_what_a_function_must_not_return() -> None:
    x = np.ones(2)
    with pytest.raises(TypeError, match=r"single number.*\(2,\)"):
        tb.from_torch(lambda x: x).value(x)
    with pytest.raises(TypeError, match="float32"):
        tb.from_torch(lambda x: x.float().sum()).value_and_grad(x)
    with pytest.raises(TypeError, match="got float"):
        tb.from_torch(lambda x: 1.0).value(x)
    nan = tb.from_torch(lambda x: torch.log(-1 - x @ x), dim=6, convex=True)
    with pytest.raises(tb.GradientError, match="not finite"):
        tb.solve(tb.Problem(nan, tb.LeastSquares(A, b), tb.L2Ball(3.0)))


def test_the_certificate_says_whose_word_it_takes() -> None:
    f = tb.from_torch(lambda x: 0.5 * x @ x, dim=6, convex=True, smoothness=1.0)
    ours = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.Box(-1, 1)))
    theirs = tb.solve(tb.Problem(f, tb.LeastSquares(A, b), tb.Box(-1, 1)), tol_upper=1e-5, tol_lower=1e-9)
    assert theirs.x == pytest.approx(ours.x, abs=5e-3)
    assert theirs.certificate.assumes == ("upper level: value, gradient, convexity and smoothness are as given",)


def box(b, center, upper):
    return tb.Problem(tb.SquaredNorm(center), tb.LeastSquares(A, b), tb.Box(-0.15, upper))


def test_a_layer_passes_gradcheck_also_in_batches() -> None:
    from tiebreak.torch import Layer

    x = Layer(box, [(0, "b"), (1, "center"), ("domain", "upper")], tol_upper=1e-10, tol_lower=1e-10)
    data = [double(b, requires_grad=True), double([0.1] * 6, requires_grad=True), double(0.15, requires_grad=True)]
    assert torch.autograd.gradcheck(x, data, atol=1e-5)
    batch = torch.stack([data[0], 0.5 * data[0]])
    assert x(batch, *data[1:]).shape == (2, 6)
    assert torch.autograd.gradcheck(
        lambda *given: x(torch.stack([given[0], 0.5 * given[0]]), *given[1:]), data, atol=1e-5
    )


def test_only_what_is_asked_for_needs_a_derivative() -> None:
    """The cost of a tied level has none, and that is no reason to refuse the rest."""
    from tiebreak.torch import Layer

    def tied(cost, center):
        return tb.Problem(tb.SquaredNorm(center), tb.Linear(cost), tb.Box(0, 1))

    x = Layer(tied, [(0, "c"), (1, "center")])
    center = double([0.3, 0.4], requires_grad=True)
    x(double([1.0, 0.0]), center).sum().backward()
    assert center.grad.tolist() == pytest.approx([0.0, 1.0])
    with pytest.raises(ValueError, match="x would jump"):
        x(double([1.0, 0.0], requires_grad=True), center).sum().backward()


def test_ends_of_rows_by_the_names_of_a_polyhedron() -> None:
    from tiebreak.torch import Layer

    def plan(b_ub, b_eq):
        Z = tb.Polyhedron(A_ub=[[1.0, 0, 0]], b_ub=b_ub, A_eq=np.ones((1, 3)), b_eq=b_eq, bounds=(0, 9))
        return tb.Problem(tb.SquaredNorm(), tb.Linear([-1.0, 0, 0]), Z)

    x = Layer(plan, [("domain", "b_ub"), ("domain", "b_eq")])
    ends = double([1.0], requires_grad=True), double([3.0], requires_grad=True)
    x(*ends)[1].backward()
    assert (ends[0].grad.item(), ends[1].grad.item()) == pytest.approx((-0.5, 0.5))
    with pytest.raises(ValueError, match="one length"):
        x(torch.ones(2, 1), torch.ones(3, 1))
