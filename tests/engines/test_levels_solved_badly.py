"""Brackets hold whatever the solvers did: points off their optimum, multipliers off theirs, at any level of a chain.

The truth is rational (``auditing``). What a level misses must reach the brackets of the levels after it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
import tiebreak.engines.rows.chain as chain_module
from auditing import random_parts as parts
from auditing.recipes import Case, Recipe
from auditing.truth import Truth, truth_of
from tiebreak.engines.rows.bracket import _column_minima, bracket
from tiebreak.engines.rows.chain import Chain
from tiebreak.engines.rows.face import Face, Record
from tiebreak.engines.rows.held import Held
from tiebreak.engines.rows.level import Level
from tiebreak.engines.rows.linear_level import FaceProgram
from tiebreak.engines.rows.quadratic_level import Solved
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.extended import Ext, ExtMatrix, ext
from tiebreak.numerics.failures import LinearProgramError

KINDS = [parts.linear, parts.least_squares, parts.quadratic, parts.total, parts.squared_norm]


def problem(seed: int, count: int = 2) -> tuple[Case, Truth]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    domain, point = (parts.box if seed % 3 == 0 else parts.polytope)(rng, n)
    levels = tuple(parts.some_objective(rng, n, point, KINDS) for _ in range(count))
    case = Case("sets", levels, domain, n)
    return case, truth_of(case)


def holds(low: float, high: float, star: Fraction) -> None:
    assert low == -np.inf or Fraction(low) <= star, f"begins above {float(star)!r} by {float(Fraction(low) - star):.3g}"
    assert high == np.inf or Fraction(high) >= star, f"ends below {float(star)!r} by {float(star - Fraction(high)):.3g}"


def some_point(face: Face, domain: tb.Domain, rng: np.random.Generator, unit: float) -> Ext:
    """A vertex of the set: points between it and another are feasible."""
    return ext(domain.lmo(rng.normal(size=face.x.size))) / unit


def with_dim(recipe: Recipe, dim: int) -> tb.Domain:
    return recipe.build().with_dim(dim)


@pytest.mark.parametrize("seed", range(30))
def test_one_level_at_any_point_with_any_multipliers(seed: int) -> None:
    case, truth = problem(seed)
    rng = np.random.default_rng(seed)
    domain, star = with_dim(case.domain, case.dim), truth.values[0][0]
    objective = case.levels[0].build()
    face, unit = Face.of(domain, [objective])
    level = Level.of(objective.form, case.dim, unit)
    best = ext([float(t) for t in truth.x]) / unit
    for share in (0.0, 1e-12, 1e-4, 0.5):
        x = best + share * (some_point(face, domain, rng, unit) - best)
        for size in (0.0, 1e-9, 1e-3, 1.0):
            y = ext(size * rng.normal(size=face.given.A.shape[0]))
            found = bracket(face, level, x, y, [])
            holds(found.lower * level.unit, found.upper * level.unit, star)
            assert found.gap >= float(found.value - found.lower) * (1 - 1e-9) - 1e-15 * (1 + abs(float(found.value)))


def spoil(monkeypatch: pytest.MonkeyPatch, case: Case, at: int, share: float, noise: float, seed: int) -> None:
    """Let level ``at`` of every chain end off its minimiser, towards another point of its face, with noisy multipliers.

    Linear levels end at vertices, which are exact: only their multipliers are spoiled.
    """
    rng = np.random.default_rng(seed)
    right = chain_module.solve_quadratic
    linear = Chain._linear

    def worse(face: Face, level: Level, solved: Solved) -> Solved:
        if len(face.records) != at:
            return solved
        x = solved.x if level.linear else solved.x + share * (face.x - solved.x)
        y = solved.y * (1 + noise * ext(rng.normal(size=solved.y.size)))
        w = [part * (1 + noise * ext(rng.normal(size=part.size))) for part in solved.w]
        return solved._replace(x=x, y=y, w=w, bracket=bracket(face, level, x, y, w))

    def quadratic(face: Face, level: Level, tol: float) -> tuple[Solved, int]:
        solved, asked = right(face, level, tol)
        return worse(face, level, solved), asked

    monkeypatch.setattr(chain_module, "solve_quadratic", quadratic)
    monkeypatch.setattr(Chain, "_linear", lambda self, level: worse(self.face, level, linear(self, level)))


@pytest.mark.parametrize(("share", "noise"), [(0.0, 1e-5), (1e-9, 0.0), (1e-5, 1e-7), (1e-2, 0.0)])
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("seed", range(7))
def test_levels_after_a_level_solved_badly(
    seed: int, at: int, noise: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, truth = problem(100 + seed, 3)
    spoil(monkeypatch, case, at, share, noise, seed)
    answers = solve_rows([level.build() for level in case.levels], with_dim(case.domain, case.dim))
    for answer, (star, _) in zip(answers, truth.values, strict=True):
        holds(answer.f_lower, answer.f_upper, star)


# -- single terms of the bound, by hand ------------------------------------------------------------------------


def solved_level(objective: tb.Objective, x: list[float], **parts: object) -> Record:
    """A record at any point, as if a level had ended there."""
    level = Level.of(objective.form, len(x))
    found = level.at(ext(x))
    empty = np.zeros(0)
    given = {
        "level": level, "x": ext(x), "grad": found.grad, "grad_error": found.grad_error, "y": ext(empty),
        "z": ext(np.zeros(len(x))), "w": [], "columns": empty.astype(np.intp), "rows": empty.astype(np.intp),
        "value": found.value, "lower": -np.inf, "gap": 0.0, "allowance": 0.0, "P": None, "reach": 0.0,
        "column_spread": empty, "row_spread": empty,
    }  # fmt: skip
    return Record(**{**given, **parts})


def test_what_a_level_left_open_is_paid_at_its_price() -> None:
    """Level 1 = x1 over x1 >= 0 ended at -delta, so that solutions may be delta worse; level 2 = -x1 is 0 there."""
    delta, (face, unit) = 2.0**-10, Face.of(tb.Box(np.zeros(2), np.ones(2)))
    point = [-delta / unit, 0.0]
    first = solved_level(tb.Linear([1.0, 0.0]), point, allowance=delta / unit, z=ext([1.0, 0.0]), columns=np.array([0]))
    face.records.append(first)
    found = bracket(face, Level.of(tb.Linear([-1.0, 0.0]).form, 2), ext(point), ext(np.zeros(0)), [ext(np.zeros(0))])
    assert found.prices[0] == pytest.approx(1.0) and -1e-9 <= found.lower <= 0


@pytest.mark.parametrize("delta", [2.0**-10, -(2.0**-10)])
@pytest.mark.parametrize("reach", [0.0, 2.0**-8])
def test_an_image_that_moved_is_paid_by_its_multiplier(delta: float, reach: float) -> None:
    """Level 1 = x1^2 / 2 holds x1 = 0 up to ``reach``; level 2 = -x1 is judged at x1 = delta."""
    face, unit = Face.of(tb.Box(-np.ones(2), np.ones(2)))
    P = ExtMatrix(np.array([[1.0, 0.0]]))
    square = tb.LeastSquares([[1.0, 0.0]], [0.0])
    face.records.append(solved_level(square, [0.0, 0.0], P=P, reach=reach / unit))
    level = Level.of(tb.Linear([-1.0, 0.0]).form, 2)
    found = bracket(face, level, ext([delta / unit, 0.0]), ext(np.zeros(0)), [ext([-1.0])])
    least = -reach * record_scale(face.records[0]) / unit
    assert least - 1e-9 <= found.lower <= least


def record_scale(record: Record) -> float:
    """How far P x may move for a reach of one."""
    return float(1 / np.sqrt(float(record.level.squares[0].scale)))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_column_minima_hold_for_every_slope_within_the_error(seed: int, mu: float) -> None:
    rng = np.random.default_rng(seed)
    r, error = rng.normal(size=6), np.abs(rng.normal(size=6)) * 10.0 ** rng.integers(-12, 1, 6)
    below, above = -rng.random(6) * (rng.random(6) < 0.8), rng.random(6) * (rng.random(6) < 0.8)
    found = _column_minima(r, error, ext(below), ext(above), mu)
    for j in range(6):
        steps = np.append(np.linspace(below[j], above[j], 41), 0.0)
        for slope in (r[j] - error[j], r[j], r[j] + error[j]):
            assert found[j] <= (slope * steps + mu / 2 * steps**2).min() + 1e-16
    if mu == 0:  # and no more than that
        corners = [slope * end for slope in (r - error, r + error) for end in (below, above)]
        np.testing.assert_allclose(found, np.minimum.reduce([*corners, np.zeros(6)]), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("shift", [0.0, 1e-6, 0.1])
def test_held_images_that_are_missed(shift: float) -> None:
    """How far E d may be from zero for a step to a true minimiser: what the point has moved, and the reach."""
    face, _ = Face.of(tb.Box(-np.ones(2), np.ones(2)))
    P = ExtMatrix(np.array([[1.0, 1.0]]))
    reach = 2.0**-12
    face.records.append(solved_level(tb.LeastSquares([[1.0, 1.0]], [0.0]), [0.0, 0.0], P=P, reach=reach))
    held = Held(face)
    moved = shift + reach * record_scale(face.records[0])
    assert held.missed(ext([shift, 0.0])) >= moved / float(held.block_sizes[0]) * (1 - 1e-12)


@pytest.mark.parametrize("fails", [0, 1])
def test_levels_that_no_way_solves_leave_what_is_known(fails: int, monkeypatch) -> None:
    """HiGHS gives no answer to one of the linear levels: an answer without a proof, and no exception."""
    solved, minimise = iter(range(9)), FaceProgram.minimise

    def first_ones(self, *given, **more):
        if next(solved) >= fails:
            raise LinearProgramError("no way to solve this one", "no answer")
        return minimise(self, *given, **more)

    monkeypatch.setattr(FaceProgram, "minimise", first_ones)
    domain = tb.Polyhedron(A_ub=[[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]], b_ub=[1.0, 2.0], bounds=(0, 3))
    levels = [tb.Linear([-1.0, -1.0, 0.0]), tb.Linear([0.0, 1.0, -1.0]), tb.SquaredNorm()]
    result = tb.solve(tb.Problem(levels[-1], levels[:-1], domain), "exact")
    assert not result.success and "no way to solve this one" in " ".join(result.notes)
    assert domain.contains(result.x)
    first = result.levels[0]
    assert first.lower <= -1.0 <= first.upper and (fails == 0 or first.upper - first.lower <= 1e-9)
    assert result.levels[-1].upper == np.inf
