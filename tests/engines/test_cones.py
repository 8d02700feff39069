"""Two levels over round sets: brackets that hold a reference of 45 digits and are no wider than 1e-10."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from decimal_references import Squares, Surface, minimised
from scipy.linalg import block_diag

import tiebreak as tb
from tiebreak.engines.cones.solve import solve_cones

WIDTH = 1e-10


def round_sets(rng: np.random.Generator) -> dict[str, tuple]:
    """By name: how to make the set for a radius, its kind and details for references."""
    groups = np.array([0, 0, 1, 1, 1, 2, 2, 3])
    listed = [np.flatnonzero(groups == g) for g in range(4)]
    center = rng.standard_normal(7)
    return {
        "L2": (lambda R: tb.L2Ball(R).with_dim(7), "power", {"p": 2, "center": np.zeros(7)}),
        "L2 around a point": (lambda R: tb.L2Ball(R, center), "power", {"p": 2, "center": center}),
        "l1.5": (lambda R: tb.LpBall(1.5, R, dim=7), "power", {"p": 1.5, "center": np.zeros(7)}),
        "l3": (lambda R: tb.LpBall(3, R, dim=7), "power", {"p": 3, "center": np.zeros(7)}),
        "groups": (lambda R: tb.GroupBall(groups, R), "groups", {"groups": listed}),
        "nuclear": (lambda R: tb.NuclearBall((4, 3), R), "spectrum", {"shape": (4, 3), "whole": False}),
        "spectrahedron": (lambda R: tb.Spectrahedron(4, R), "spectrum", {"shape": (4, 4), "whole": True}),
    }


NAMES = tuple(round_sets(np.random.default_rng(0)))


def data(rng: np.random.Generator, rows: int, columns: int, size: float = 1.0) -> Squares:
    return Squares(rng.standard_normal((rows, columns)), size * rng.standard_normal(rows))


def least_squares(squares: Squares) -> tb.LeastSquares:
    return tb.LeastSquares(squares.A, squares.b)


def held(low: float, value: Decimal, high: float) -> bool:
    return Decimal(low) <= value <= Decimal(high)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_one_lower_solution_on_the_boundary(name: str, seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    make, kind, details = round_sets(rng)[name]
    domain = make(0.7)
    n = domain.dim
    lower, upper = data(rng, n + 3, n, 5.0), data(rng, n + 1, n)
    answer = solve_cones([least_squares(lower), least_squares(upper)], domain)
    surface = Surface(kind, answer.x, 0.7, **details)
    x, _, residual = minimised(lower, surface)
    assert residual < 1e-45
    assert held(answer.f_lower, upper.value(x), answer.f_upper)
    assert held(answer.g_lower, lower.value(x), answer.g_upper)
    assert answer.width <= WIDTH
    assert answer.lower_unique
    assert np.abs(answer.x - np.array([float(v) for v in x])).max() < 1e-14
    slope = np.array([float(v) for v in lower.grad(x)])  # the reference is a minimiser, not only stationary
    assert slope @ answer.x - slope @ domain.lmo(slope) < 1e-9 * np.linalg.norm(slope)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_many_lower_solutions_inside(name: str, seed: int) -> None:
    rng = np.random.default_rng(2000 + seed)
    make, kind, details = round_sets(rng)[name]
    domain = make(2.0)
    n = domain.dim
    lower, upper = data(rng, 3, n), data(rng, n + 2, n, 4.0)
    inner = np.zeros(n) if kind != "spectrum" or not details["whole"] else np.eye(4).ravel() / 2
    if "center" in details:
        inner = details["center"]
    lower = Squares(lower.A, lower.A @ inner + 0.02 * lower.b)
    answer = solve_cones([least_squares(lower), least_squares(upper)], domain)
    inside = domain.round.room(answer.x) > 1e-6 and name != "spectrahedron"  # which has a trace to keep
    surface = Surface("inside", answer.x, 2.0) if inside else Surface(kind, answer.x, 2.0, **details)
    x, w, residual = minimised(upper, surface, lower)
    assert residual < 1e-45
    assert held(answer.f_lower, upper.value(x), answer.f_upper)
    assert held(answer.g_lower, Decimal(0), answer.g_upper)
    assert answer.width <= WIDTH
    assert answer.lower_unique is False
    pulled = zip(upper.grad(x), lower.pull(w), strict=True)
    slope = np.array([float(a + b) for a, b in pulled])
    assert slope @ answer.x - slope @ domain.lmo(slope) < 1e-9 * (1 + np.linalg.norm(slope))


@pytest.mark.parametrize("name", NAMES)
def test_a_linear_lower_level(name: str) -> None:
    rng = np.random.default_rng(3)
    domain = round_sets(rng)[name][0](1.5)
    upper, c = data(rng, 9, domain.dim), rng.standard_normal(domain.dim)
    answer = solve_cones([tb.Linear(c), least_squares(upper)], domain)
    x = domain.lmo(c)
    assert answer.lower_unique
    assert answer.width <= WIDTH
    np.testing.assert_allclose(answer.x, x, atol=1e-13)
    assert answer.f_lower - 1e-12 <= least_squares(upper).value(x) <= answer.f_upper + 1e-12


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("name", ["L2", "l1.5", "groups", "nuclear", "spectrahedron"])
def test_units_do_not_matter(name: str, size: float, scale: float) -> None:
    rng = np.random.default_rng(5)
    make = round_sets(rng)[name][0]
    n = make(1.0).dim
    A, B, b, c = (rng.standard_normal(shape) for shape in ((n + 3, n), (n, n), n + 3, n))
    plain = solve_cones([tb.LeastSquares(A, b), tb.LeastSquares(B, c)], make(0.3))
    other = [tb.LeastSquares(scale * A, size * scale * b), tb.LeastSquares(B, size * c, scale=scale)]
    answer = solve_cones(other, make(0.3 * size))
    unit = scale * size**2
    assert (answer.f_upper - answer.f_lower) / unit <= 1e-10 * (1 + abs(plain.f_lower))
    assert answer.f_lower / unit <= plain.f_upper * (1 + 1e-12)
    assert plain.f_lower * (1 - 1e-12) <= answer.f_upper / unit


@pytest.mark.parametrize("name", NAMES)
def test_logistic_levels(name: str) -> None:
    """Against the brackets of a first-order method, which are independent and wide."""
    rng = np.random.default_rng(8)
    domain = round_sets(rng)[name][0](0.8)
    n = domain.dim
    lower = tb.Logistic(rng.standard_normal((3 * n, n)), np.where(rng.random(3 * n) < 0.5, 1.0, -1.0))
    upper = tb.LeastSquares(rng.standard_normal((n, n)), rng.standard_normal(n)) + tb.Linear(np.ones(n))
    problem = tb.Problem(upper, lower, domain)
    result = tb.solve(problem, tol_upper=1e-8, tol_lower=1e-8)
    assert result.success and result.method == "exact" and result.certificate.two_sided
    assert result.certificate.f_upper - result.certificate.f_lower <= 1e-8
    other = tb.solve(problem, "apb-apg", max_iter=3000, max_time=5.0)
    assert other.certificate.f_lower <= result.certificate.f_upper + 1e-12
    assert result.certificate.g_lower <= other.certificate.g_upper
    assert other.certificate.g_lower <= result.certificate.g_upper


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_products_are_solved_block_by_block(seed: int) -> None:
    """Levels that are sums over the blocks: the optimal values are sums of those of the blocks alone."""
    rng = np.random.default_rng(50 + seed)
    blocks = {
        "ball": tb.L2Ball(0.4).with_dim(4),
        "matrix": tb.NuclearBall((3, 2), 5.0),
        "psd": tb.Spectrahedron(3),
        "groups": tb.GroupBall([0, 0, 1, 1], 0.6),
    }
    if seed:
        blocks |= {"box": tb.Box(-0.3, 0.3).with_dim(3), "shares": tb.Simplex(0.8).with_dim(4)}
    if seed == 2:
        del blocks["psd"], blocks["matrix"]
    domain = tb.Product(blocks)
    f_low = f_high = g_low = g_high = 0.0
    rows: dict[str, list[np.ndarray]] = {"A": [], "b": [], "F": [], "d": []}
    for block in blocks.values():
        n = block.dim
        A, b = rng.standard_normal((n + 2, n)), 3 * rng.standard_normal(n + 2)
        F, d = rng.standard_normal((n, n)), rng.standard_normal(n)
        alone = tb.solve(
            tb.Problem(tb.LeastSquares(F, d), tb.LeastSquares(A, b), block), tol_upper=1e-9, tol_lower=1e-9
        )
        known = alone.certificate
        assert alone.success and known.two_sided
        f_low, f_high = f_low + known.f_lower, f_high + known.f_upper
        g_low, g_high = g_low + known.g_lower, g_high + known.g_upper
        for name, array in zip(rows, (A, b, F, d), strict=True):
            rows[name].append(array)
    lower = tb.LeastSquares(block_diag(*rows["A"]), np.concatenate(rows["b"]))
    upper = tb.LeastSquares(block_diag(*rows["F"]), np.concatenate(rows["d"]))
    result = tb.solve(tb.Problem(upper, lower, domain), tol_upper=1e-8, tol_lower=1e-8)
    known = result.certificate
    assert result.success and result.method == "exact" and known.two_sided
    assert known.lower_unique
    assert known.f_upper - known.f_lower <= 1e-9 * (1 + abs(known.f_lower))
    assert known.f_lower <= f_high and f_low <= known.f_upper
    assert known.g_lower <= g_high and g_low <= known.g_upper
