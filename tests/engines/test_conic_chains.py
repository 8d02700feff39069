"""Chains over sets by cones against planted solutions and closed forms; what is proved, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from planted_cones import planted

import tiebreak as tb
from tiebreak.engines.conic.bracket import Reach, close, record, upper_bound
from tiebreak.engines.conic.face import Face
from tiebreak.engines.conic.level import ExactLevel
from tiebreak.engines.conic.newton_kantorovich import distance
from tiebreak.engines.conic.polish import Solved, Units, lifted, solve_level
from tiebreak.engines.conic.refuses import conic_applies
from tiebreak.engines.conic.solve import solve_conic
from tiebreak.numerics.exact import Exact

KINDS = {
    "second-order": ("second-order", "second-order", "second-order"),
    "semidefinite": ("triangle", "triangle"),
    "mixed": ("nonnegative", "second-order", "triangle"),
}


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_brackets_hold_the_planted_values(kinds: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 77])
    chain = planted(rng, KINDS[kinds], 2 + seed % 3, seed % 2 == 0, seed > 1)
    answers = solve_conic(chain.levels, chain.domain)
    assert len(answers) == len(chain.levels)
    for answer, value in zip(answers, chain.values, strict=True):
        assert answer.f_lower <= value <= answer.f_upper
    assert answers[0].f_upper - answers[0].f_lower <= 1e-9 * (1 + abs(chain.values[0]))
    if answers[1].well_posed:
        assert chain.values[1] - answers[1].f_lower <= 1e-8 * (1 + abs(chain.values[1]))
    if answers[-1].well_posed:
        for level, value in zip(chain.levels, chain.values, strict=True):
            assert abs(level.value(answers[-1].x) - value) <= 1e-9 * (1 + abs(value))


def disk(radius: float = 1.0, kind: str = "second-order") -> tb.Cone:
    """As a second-order cone, or as [[r + x, y], [y, r - x]] semidefinite."""
    if kind == "second-order":
        return tb.Cone([[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], [radius, 0.0, 0.0], [("second-order", 3)])
    scale = np.sqrt(2) if kind == "semidefinite" else 1.0
    return tb.Cone([[-1.0, 0.0], [0.0, -scale], [1.0, 0.0]], [radius, 0.0, radius], [(kind, 2)])


@pytest.mark.parametrize("kind", ["second-order", "semidefinite", "triangle"])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_disk_three_ways_and_in_three_units(kind: str, unit: float) -> None:
    levels = [tb.SquaredNorm(unit * np.array([3.0, 4.0])), tb.Linear([1.0, 1.0])]
    last = solve_conic(levels, disk(unit, kind))[-1]
    # [0.6, 0.8] in these units; what sqrt(2) in the data is off by belongs to the data
    assert last.lower_unique and last.upper_constant
    assert last.f_lower - 1e-15 * unit <= 1.4 * unit <= last.f_upper + 1e-15 * unit
    assert last.f_upper - last.f_lower <= 1e-14 * unit


def test_the_only_minimiser_is_proved_and_is_where_it_is_said_to_be() -> None:
    proved = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        chain = planted(rng, KINDS["mixed"], 1, True, True)
        square = tb.SquaredNorm(chain.x)  # the planted solution stays the only one
        level = chain.levels[0] + square
        answers = solve_conic([level, tb.Linear(np.ones(chain.x.size))], chain.domain)
        assert answers[-1].f_lower <= chain.x.sum() <= answers[-1].f_upper
        proved += bool(answers[-1].lower_unique)
    assert proved >= 8  # the others are degenerate: multipliers of zero where slacks are


@pytest.mark.parametrize("off", [1e-4, 1e-6, 1e-9])
def test_the_proved_distance_holds_at_points_that_are_off(off: float) -> None:
    shown = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, 6])
        chain = planted(rng, KINDS["mixed"], 1, True, False, more=2)
        rows, level = chain.domain.conic, ExactLevel((chain.levels[0] + tb.SquaredNorm(chain.x)).form, chain.x.size)
        solved = solve_level(Face.of(rows), level)
        z = lifted(Face.of(rows), solved.z)
        if rows.zero.size:
            continue
        x = solved.x + off * solved.units.x * rng.standard_normal(chain.x.size)
        far = distance(rows, level, x, z, solved.units)
        if far is not None:
            shown += 1
            assert np.linalg.norm((x - chain.x).double()) <= far
    assert shown or off > 1e-6


@pytest.mark.parametrize(
    ("level", "domain"),
    [
        (tb.Linear([0.0, 1.0]), tb.Cone(  # the lower edge of a half disk
            [[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0], [0.0, -1.0]], [1.0, 0.0, 0.0, 0.0],
            [("second-order", 3), ("nonnegative", 1)])),
        (tb.LeastSquares([[1.0, 0.0]], [0.5]), disk()),  # a segment
        (tb.SquaredNorm([1.0, 0.0]), disk()),  # touches: one point, but degenerate
    ],
)  # fmt: skip
def test_uniqueness_is_not_claimed_where_there_is_none_or_it_hangs_on_rounding(level, domain) -> None:
    face, own = Face.of(domain.conic), ExactLevel(level.form, 2)
    solved = solve_level(face, own)
    assert distance(domain.conic, own, solved.x, lifted(face, solved.z), solved.units) is None


def segment() -> tb.Cone:
    """0 <= x <= 5."""
    return tb.Cone([[-1.0], [1.0]], [0.0, 5.0], [("nonnegative", 2)])


def test_points_that_meet_all_conditions_but_for_the_signs_are_no_minimisers() -> None:
    """x = 0 with a multiplier of -1 is a regular zero of the equations for min -x."""
    own, rows = ExactLevel(tb.Linear([-1.0]).form, 1), segment().conic
    x, units = Exact.of(np.array([0.0])), Units(1.0, 1.0, 1.0, 1.0)
    assert distance(rows, own, x, Exact.of(np.array([-1.0, 0.0])), units) is None
    end = Exact.of(np.array([5.0]))
    assert distance(rows, own, end, Exact.of(np.array([0.0, 1.0])), units) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("off", [0.5, 1e-3])
def test_what_a_level_says_of_all_its_solutions_holds_at_points_that_are_off(off: float) -> None:
    """The nearest points of a square to a line beside it are an edge: <z, s'> + |A (x' - x)|^2 / 2 at its points."""
    square = tb.Cone(np.vstack([np.eye(2), -np.eye(2)]), [1.0, 1.0, 0.0, 0.0], [("nonnegative", 4)])
    rows, own = square.conic, ExactLevel(tb.LeastSquares([[1.0, 0.0]], [2.0]).form, 2)
    face, x = Face.of(rows), np.array([1.0 - off, 0.25])
    z = np.array([1.0 + off, 0.0, 0.0, 0.0])  # with the slope there they add up to zero
    solved = Solved(Exact.of(x), [Exact.of(z)], 0.0, Units(1.0, 1.0, 1.0, 1.0))
    found = record(face, own, solved, Reach(np.sqrt(2.0), 4.0))
    close(rows, found, [], upper_bound(rows, own, found.x), Reach(np.sqrt(2.0), 4.0))
    for height in (0.0, 0.5, 1.0):
        solution = np.array([1.0, height])
        slacks = np.array([0.0, 1 - height, 1.0, height])
        assert found.touch >= found.z.double() @ slacks + (solution[0] - x[0]) ** 2 / 2
        assert found.bend >= (solution[0] - x[0]) ** 2 / 2


def test_strict_complementarity_in_doubt_is_named() -> None:
    answers = solve_conic([tb.SquaredNorm([1.0, 0.0]), tb.Linear([0.0, 1.0])], disk())
    assert not answers[-1].well_posed and "strict complementarity" in " ".join(answers[-1].notes)
    assert answers[-1].f_lower <= 0.0 <= answers[-1].f_upper


def test_squares_that_can_be_zero_are_equations() -> None:
    answers = solve_conic([tb.LeastSquares([[1.0, 2.0]], [0.5]), tb.Linear([1.0, 0.0])], disk())
    # x = 0.5 - 2 y on the circle: 5 y^2 - 2 y - 0.75 = 0
    y = (2 + np.sqrt(4 + 15)) / 10
    assert (answers[0].f_lower, answers[0].f_upper) == (0.0, 0.0)
    assert abs(answers[1].f_lower - (0.5 - 2 * y)) <= 1e-14 and answers[1].f_upper - answers[1].f_lower <= 1e-13


def test_solve_takes_it_with_slack_and_verifies() -> None:
    rng = np.random.default_rng(3)
    g, f = tb.LeastSquares(rng.standard_normal((2, 2)), [10.0, -3.0]), tb.SquaredNorm([1.0, 2.0])
    for slack in (0.0, 0.1):
        by_cones = tb.solve(tb.Problem(f, g, disk(), slack=slack), tol_upper=1e-7, tol_lower=1e-7)
        as_ball = tb.solve(tb.Problem(f, g, tb.L2Ball(1.0), slack=slack), tol_upper=1e-7, tol_lower=1e-7)
        assert by_cones.success and by_cones.method == "exact" and abs(by_cones.f - as_ball.f) <= 1e-7
        assert by_cones.verify(tb.Problem(f, g, disk(), slack=slack)).ok
    assert tb.plan(tb.Problem(f, g, disk())).engine == "conic"


def test_without_bounds() -> None:
    cone = tb.Cone(-np.eye(3), np.zeros(3), [("second-order", 3)])
    result = tb.solve(tb.Problem(tb.SquaredNorm([1.0, -3.0, 3.0]), tb.Linear([1.0, 1.0, 0.0]), cone))
    assert result.success and abs(result.f - 5.5) <= 1e-9  # the ray (t, -t, 0)
    assert any("not known to be bounded" in one for one in result.certificate.assumes)
    falls = tb.solve(tb.Problem(tb.SquaredNorm(dim=3), tb.Linear([1.0, 2.0, 0.0]), cone))
    assert falls.status == "unbounded"


def test_what_it_refuses() -> None:
    power = tb.Cone(-np.eye(3), [0.0, 0.0, 5.0], [("power", 0.3)])
    linear = [tb.Linear([1.0, 0.0, 1.0])] * 2
    assert "power cones" in conic_applies(linear, power)
    assert "quadratic" in conic_applies([tb.Logistic(np.eye(2), [1, -1]), tb.SquaredNorm(dim=2)], disk())
    assert "smooth" in conic_applies([tb.L1Norm(), tb.SquaredNorm(dim=2)], disk())
    with pytest.raises(ValueError, match="no exact method"):
        tb.solve(tb.Problem(tb.SquaredNorm(dim=3), linear, power))
