"""What users' functions and sets answer is held to what they answered before; honest ones are left in peace."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest

import lies
import lying_oracles
import tiebreak as tb
from parts import honest

CLAIMED = {name for name, (_, hidden) in lies.KINDS.items() if not hidden}


@pytest.mark.parametrize("name", sorted(CLAIMED))
def test_no_lie_that_a_cheap_check_can_see_ends_in_a_false_success(name: str) -> None:
    assert len(CLAIMED) >= 40
    found = lying_oracles.outcome(name, ("auto",), honest()[::2])
    assert not found.false


@pytest.mark.parametrize("name", sorted(set(lies.KINDS) - CLAIMED))
def test_what_cannot_be_checked_is_assumed(name: str) -> None:
    parts = lies.KINDS[name][0](honest()[0])
    result = tb.solve(parts.problem(), max_iter=3)
    assumed = "; ".join(result.certificate.assumes)
    assert "lower level: value, gradient, convexity" in assumed or "lower level: value, gradient and" in assumed
    assert "given to FromOracles" in assumed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("f: value with random noise of 1e-06", "upper: .*(without noise|anything but x)"),
        ("g: lower_bound too high by 0.1", r"lower: its value .* is below its lower_bound"),
        ("g: smoothness ten times too small", "lower: .*larger smoothness"),
        ("lmo maximises", "domain: .*lmo is not a minimiser"),
        ("lmo raises StopIteration after 20 calls", "lmo raised StopIteration"),
        ("project leaves x where it is", "domain: .*project"),
        ("contains is never true", "domain: contains says"),
        ("contains gives None", "contains.* must return True or False"),
        ("diameter ten times too small", "correct diameter"),
    ],
)
def test_the_error_names_the_argument(name: str, words: str) -> None:
    parts = lies.KINDS[name][0](honest()[0])
    with pytest.raises((tb.OracleError, RuntimeError, TypeError), match=words):
        tb.solve(parts.problem(), "cg-bio-anytime", max_iter=2000)


def test_errors_of_users_go_on_as_they_are() -> None:
    for name, error in (("f: value raises ZeroDivisionError", ZeroDivisionError), ("lmo raises KeyError", KeyError)):
        parts = lies.KINDS[name][0](honest()[0])
        with pytest.raises(error, match="mine"):
            tb.solve(parts.problem(), "cg-bio-anytime")


def test_a_stop_iteration_does_not_end_the_loop_of_the_caller() -> None:
    def value(x: np.ndarray) -> float:
        raise StopIteration

    f = tb.Function(value, np.copy, dim=2, convex=True)
    problem = tb.Problem(f, tb.SquaredNorm(dim=2), tb.L2Ball(1.0))
    for run in (lambda: tb.solve(problem, "cg-bio-anytime"), lambda: list(tb.iterate(problem, "cg-bio-anytime"))):
        with pytest.raises(RuntimeError, match=r"value.* raised StopIteration"):
            run()


def test_states_of_iterate_are_safe_from_a_shared_buffer() -> None:
    parts = lies.KINDS["lmo answers in one buffer"][0](honest()[0])
    truth = honest()[0].problem()
    pairs = zip(tb.iterate(truth, "cg-bio-anytime"), tb.iterate(parts.problem(), "cg-bio-anytime"), strict=True)
    told, lied = zip(*itertools.islice(pairs, 20), strict=True)
    assert all(np.array_equal(one.x, other.x) for one, other in zip(told, lied, strict=True))


def honest_sets(rng: np.random.Generator, d: int, r: float) -> list[tb.Domain]:
    rows = rng.standard_normal((3, d))
    sets = [
        tb.L1Ball(r), tb.L2Ball(r), tb.Simplex(r), tb.LpBall(3.0, r), tb.KSparse(2, r),
        tb.Box(-r * np.ones(d), r * np.ones(d)), tb.Box(1e4 * r * np.ones(d), (1e4 + 1) * r * np.ones(d)),
        tb.Polyhedron(A_ub=rows, b_ub=r * np.ones(3), bounds=[(-r, r)] * d),
    ]  # fmt: skip
    return [Z.with_dim(d) for Z in sets]


@pytest.mark.parametrize("seed", range(24))
def test_honest_users_are_left_in_peace(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, s, r = int(rng.integers(2, 7)), 10.0 ** rng.integers(-8, 9), 10.0 ** rng.integers(-4, 5)
    A, b = rng.standard_normal((5, d)) / r, np.array([1.0, -1.0, 0.5, 2.0, -3.0])
    levels = [
        tb.LeastSquares(A, b, scale=s), s * tb.Logistic(A, np.sign(b)), tb.Linear(s * A[0]), s * tb.Huber(A, b, 1.0),
        s * tb.SquaredNorm(r * b[0] * np.ones(d)),
    ]  # fmt: skip
    f, g = (
        tb.Function(level.value, level.grad, d, convex=True, smoothness=level.smoothness, lower_bound=level.lower_bound)
        for level in (levels[seed % 5], levels[int(rng.integers(5))])
    )
    Z = honest_sets(rng, d, r)[seed % 8]
    given = {"lmo": Z.lmo, "project": Z.project, "contains": Z.contains}
    for missing in (set(), {"contains"}, {"project"}, {"project", "contains"}):
        oracles = {name: oracle for name, oracle in given.items() if name not in missing}
        problem = tb.Problem(f, g, tb.FromOracles(**oracles, diameter=Z.diameter, dim=d))
        size = max(abs(level.value(Z.lmo(np.ones(d)))) for level in (f, g)) or 1.0
        tb.solve(problem, max_iter=12, tol_upper=1e-2 * size, tol_lower=1e-2 * size)


def test_a_false_error_bound_is_found_when_it_contradicts_what_is_proved() -> None:
    f, g = tb.SquaredNorm(dim=2), tb.LeastSquares([[1.0, 1.0]], [1.0])
    problem = tb.Problem(f, g, tb.L2Ball(2.0), error_bound=tb.ErrorBound(1e6, 2.0, 3.0))
    with pytest.raises(tb.OracleError, match=r"error_bound: with ErrorBound.* but it is at least"):
        tb.solve(problem, "cg-bio-anytime")


class Blurred(tb.SquaredNorm):
    """A user's class with noise of 1e-6 in its value, which it declares or keeps to itself."""

    declared = 0.0

    def value_and_grad(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, grad = super().value_and_grad(x)
        return value + 1e-6 * (zlib.crc32(x.tobytes()) / 2**32 - 0.5), grad

    def value(self, x: np.ndarray) -> float:
        return self.value_and_grad(x)[0]

    def value_at(self, x: np.ndarray, image: object) -> float:
        return self.value(x)

    def value_and_grad_at(self, x: np.ndarray, image: object) -> tuple[float, np.ndarray]:
        return self.value_and_grad(x)

    def rounding(self, x: np.ndarray) -> tuple[float, float]:
        return self.declared, 1e-15

    def value_and_error(self, x: np.ndarray) -> tuple[float, float]:
        return self.value(x), self.declared


def test_noise_that_a_class_declares_is_given_away_and_other_noise_is_an_error() -> None:
    g = tb.LeastSquares([[1.0, 1.0]], [1.0])
    blurred = Blurred(dim=2)
    with pytest.raises(tb.OracleError, match="upper"):
        tb.solve(tb.Problem(blurred, g, tb.L2Ball(2.0)), "cg-bio-anytime", max_iter=100)
    blurred.declared = 1e-6
    result = tb.solve(tb.Problem(blurred, g, tb.L2Ball(2.0)), "cg-bio-anytime", tol_upper=1e-2, tol_lower=1e-2)
    assert result.certificate.f_lower <= 0.25


class Formed(tb.Objective):
    """A user's class that gives its form: right, or that of another function."""

    convex, dim = True, 2

    def __init__(self, own: tb.Objective, form_of: tb.Objective) -> None:
        self.own, self.form_of = own, form_of

    @property
    def form(self) -> tb.objectives.Form | None:
        return self.form_of.form

    def value_and_grad(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        return self.own.value_and_grad(x)


def test_a_class_with_a_form_is_solved_exactly_and_held_to_it() -> None:
    f, g = tb.LeastSquares([[2.0, 1.0]], [1.0]), tb.LeastSquares([[1.0, 1.0]], [1.0])
    tb.testing.check_objective(Formed(f, f))
    result = tb.solve(tb.Problem(Formed(f, f), g, tb.L1Ball(2.0)))
    assert (result.method, result.success) == ("exact", True)
    np.testing.assert_allclose(result.x, [0.0, 1.0], atol=1e-12)
    assert any("upper" in claim for claim in result.certificate.assumes)
    with pytest.raises(AssertionError, match="the form must give the value"):
        tb.testing.check_objective(Formed(f, g))
    with pytest.raises(tb.OracleError, match=r"upper: its value at x is .* its form gives"):
        tb.solve(tb.Problem(Formed(f, tb.LeastSquares([[2.0, 1.5]], [1.0])), g, tb.L1Ball(2.0)))
