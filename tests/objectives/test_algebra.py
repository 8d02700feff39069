"""Sums and multiples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb
from tiebreak.objectives import Multiple, Sum

A, B = np.arange(6.0).reshape(2, 3), np.ones((4, 3))
least, log = tb.LeastSquares(A, [1, 2]), tb.Logistic(B, [0, 1, 1, 0])
x = np.array([0.3, -1.0, 2.0])


def test_sums_are_flat_and_multiples_too():
    total = (least + log) + (tb.SquaredNorm() + tb.Linear([1, 2, 3]))
    assert isinstance(total, Sum)
    assert len(total.terms) == 4
    double = 2 * (3 * least)
    assert isinstance(double, Multiple)
    assert (double.factor, double.inner) == (6.0, least)
    assert (np.float32(0.5) * least * 4).value(x) == 2 * least.value(x)


def test_facts_combine():
    total = 2 * least + tb.SquaredNorm() + tb.Linear([1, 2, 3])
    assert total.convex
    assert total.quadratic
    assert total.dim == 3
    assert total.lower_bound == -np.inf
    np.testing.assert_allclose(total.smoothness, 2 * least.smoothness + 1)
    assert (2 * least + log).lower_bound == 0.0
    assert not (least + log).quadratic
    assert (least + log).curvature_along(x, (least.image(x), log.image(x))) is None
    rough = tb.Function(lambda v: 0.0, lambda v: 0 * v, lower_bound=1.0)
    total = least + 3 * rough
    assert not total.convex
    assert total.smoothness is None
    assert (3 * rough).smoothness is None
    assert total.lower_bound == 3.0
    assert total.claims == rough.claims != ""
    assert least.claims == (2 * least + log).claims == ""
    assert tb.SquaredNorm().dim is (tb.SquaredNorm() + tb.SquaredNorm()).dim is None


def test_forms_add_up():
    c = np.array([1.0, 2.0, 3.0])
    total = 2 * (3 * log + tb.Linear(c)) + 0.5 * tb.Linear(c) + 0.25 * tb.Quadratic(np.eye(3), c, 2.0) + tb.L1Norm(0.5)
    for objective in (total, log + tb.Linear(c), 4 * least, 3 * (tb.SquaredNorm(c) + 2 * tb.L1Norm()), least + log):
        assert objective.form.value(x) == pytest.approx(objective.value(x), rel=1e-14)
    form = total.form
    assert [(term.loss, term.data, float(term.scale)) for term in form.losses] == [(log.link, log.data, 6.0)]
    assert [float(slope.scale) for slope in form.linear] == [0.25, 2.0, 1.0]  # Linear takes its own factor
    assert float(form.constant) == 0.5 and form.norms[0].weights == 0.5
    assert [(factor, type(part)) for factor, part in total.parts][:2] == [(6.0, tb.Logistic), (2.0, tb.Linear)]
    rough = tb.Function(lambda v: 0.0, lambda v: 0 * v)
    assert (least + rough).form is (2 * rough).form is rough.form is None


def test_the_factors_of_a_form_are_not_rounded():
    third, fifth = 1 / 3, 1 / 5
    scale = (third * (tb.Linear(x) + fifth * tb.LeastSquares(np.eye(3), x, 0.7))).form.losses[0].scale
    assert scale == np.longdouble(third) * (np.longdouble(fifth) * np.longdouble(0.7))


def test_widened():
    c = np.array([1.0, -2.0, 3.0])
    whole = 2 * least + tb.SquaredNorm(c) + 3 * tb.SquaredNorm() + tb.Linear(c) + tb.Quadratic(np.diag(c**2), c, 4.0)
    wide, far = tb.objectives.Widened(whole, 3, 2), np.append(x, [7.0, -8.0])
    assert wide.dim == 5 and wide.convex and wide.quadratic and wide.claims == ""
    assert wide.value(far) == wide.value_and_grad(far)[0] == whole.value(x)
    assert wide.form.value(far) == pytest.approx(whole.value(x), rel=1e-14)
    np.testing.assert_array_equal(wide.grad(far), [*whole.grad(x), 0.0, 0.0])
    assert wide.smoothness == whole.smoothness and wide.lower_bound == whole.lower_bound
    assert wide.rounding(far) == whole.rounding(x)
    assert wide.curvature_along(far, wide.image(far)) == whole.curvature_along(x, whole.image(x))
    assert tb.objectives.Widened(tb.SquaredNorm(c), 3, 1).lower_bound == 0.0
    rough = tb.Function(lambda v: 0.0, lambda v: 0 * v)
    assert tb.objectives.Widened(rough, 3, 2).form is None


@pytest.mark.parametrize("as_sparse", [False, True])
def test_widened_by_negative_parts(as_sparse: bool):
    c, A = np.array([1.0, -2.0, 3.0]), np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    if as_sparse:
        A = sparse.csr_array(A)
    whole = tb.LeastSquares(A, [1.0, -1.0]) + tb.SquaredNorm(c) + tb.Linear(c) + tb.Quadratic(np.diag(c**2), c, 4.0)
    S = np.array([[1.0, 0, 0, 0, 0, 0], [0, 1, 0, -1, 0, 0], [0, 0, 1, 0, -1, 0]])
    for more in (2, 3):
        wide, z = tb.objectives.Widened(whole, 3, more, np.array([1, 2])), np.arange(1.0, 4.0 + more)
        inner = S[:, : 3 + more] @ z
        assert wide.value(z) == wide.form.value(z) == whole.value(inner)
        np.testing.assert_array_equal(wide.grad(z), S[:, : 3 + more].T @ whole.grad(inner))
        assert wide.curvature_along(z, wide.image(z)) == whole.curvature_along(inner, whole.image(inner))
        steep = np.linalg.eigvalsh(S[:, : 3 + more].T @ np.diag(c**2) @ S[:, : 3 + more])[-1]
        assert tb.objectives.Widened(tb.Quadratic(np.diag(c**2), c), 3, more, np.array([1, 2])).smoothness >= steep


def test_what_cannot_be_combined():
    with pytest.raises(ValueError, match=r"one dimension, got \[2, 3\]"):
        least + tb.Linear([1, 2])
    for factor in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="factor"):
            factor * least
        if factor != -1:
            with pytest.raises(ValueError, match="factor"):
                factor * tb.Linear([1.0])
    for other in ("2", None, [1.0], 1j):
        with pytest.raises(TypeError):
            other * least
        with pytest.raises(TypeError):
            other * tb.Linear([1.0])
    with pytest.raises(TypeError):
        least + 1


def test_differences_quotients_and_what_can_be_maximised():
    x = np.array([1.0, 2.0])
    f, g = tb.Linear([1.0, 2.0]), tb.Linear([3.0, -1.0])
    assert (f - g).value(x) == 4.0 and (-f).value(x) == -5.0 and (-2 * f).value(x) == -10.0
    assert (f / 4).value(x) == 1.25 and (f / -4).value(x) == -1.25
    assert (-(f + g)).value(x) == -6.0 and (-(2 * (f + g))).grad(x).tolist() == [-8.0, -2.0]
    h = tb.LeastSquares([[1.0, 1.0]], [1.0]) / 2 - f
    assert h.value(x) == 1.0 - 5.0 and h.convex and h.form.slopes[0].c.tolist() == [-1.0, -2.0]
    concave = tb.Quadratic(-np.eye(2), [1.0, 0.0], c=2.0)
    assert not concave.convex and (-concave).convex and (-3 * concave).value(x) == -3 * concave.value(x)
    norm = (tb.L1Norm() / 2).weights
    assert float(norm) == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -tb.SquaredNorm(dim=2), "minus SquaredNorm is not known to be convex"),
        (lambda: tb.Linear([1.0]) - tb.L1Norm(), "minus L1Norm"),
        (lambda: -1 * tb.Huber([[1.0]], [0.0], 1.0), "minus Huber"),
        (lambda: -(tb.SquaredNorm() + tb.Linear([1.0])), "minus SquaredNorm"),
        (lambda: -tb.Quadratic(np.eye(2), [0.0, 0.0]), "minus Quadratic"),
        (lambda: 0 * tb.SquaredNorm(), "positive"),
        (lambda: tb.SquaredNorm() / 0, "must not be zero"),
        (lambda: tb.SquaredNorm() * float("nan"), "factor of an objective holds NaN"),
        (lambda: tb.SquaredNorm() / float("inf"), "divisor of an objective holds"),
    ],
)
def test_what_is_no_multiple(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_maximising_a_linear_level():
    Z = tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[3.0], bounds=(0, 2))
    result = tb.solve(tb.Problem(tb.SquaredNorm(), -tb.Linear([1.0, 1.0]), Z))
    assert result.success and result.g == pytest.approx(-3.0) and result.x == pytest.approx([1.5, 1.5])
