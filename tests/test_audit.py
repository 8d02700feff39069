"""The audit: its rational truth against other routes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from auditing.checks import Claim, Outcome, audit, faults
from auditing.families import FAMILIES, make
from auditing.pool import outcomes
from auditing.recipes import Case, exactly, recipe, root, value
from auditing.script import script
from auditing.shrink import shrunk
from auditing.truth import NoTruth, rows_of, truth_of
from mutants import misfits

HALF = Fraction(1, 2)


def toy(**changes: object) -> Case:
    """Least norm among the points of a box with x1 + x2 = 1: (1/2, 1/2)."""
    lower = recipe("LeastSquares", A=np.ones((1, 2)), b=np.ones(1))
    box = recipe("Box", lower=np.full(2, -2.0), upper=np.full(2, 2.0))
    return Case("sets", (lower, recipe("SquaredNorm", center=np.zeros(2))), box, 2).changed(**changes)


def test_truth_of_the_toy() -> None:
    truth = truth_of(toy())
    assert truth.x == [HALF, HALF] and truth.values == ((0, 0), (HALF**2, HALF**2))
    assert truth.unique is False and truth.constant is False


def test_truth_with_slack_is_an_interval_around_the_closed_form() -> None:
    """|x1 + x2 - 1| <= delta with slack = delta^2 / 2: v = (1 - delta)^2 / 4."""
    delta = Fraction(1, 8)
    low, high = truth_of(toy(slack=float(delta**2 / 2))).values[1]
    assert low <= (1 - delta) ** 2 / 4 <= high and high - low < Fraction(1, 10**12)


@pytest.mark.parametrize("number", range(12))
def test_first_level_against_highs(number: int) -> None:
    case = make("degenerate", 5, number)
    where = rows_of(case.domain, case.dim)
    c = case.levels[0].args["c"]
    A_ub = np.array([[float(entry) for entry in a] for a, _ in where.below])
    A_eq = np.array([[float(entry) for entry in a] for a, _ in where.equal]) if where.equal else None
    b_eq = np.array([float(b) for _, b in where.equal]) if where.equal else None
    found = linprog(c, A_ub, [float(b) for _, b in where.below], A_eq, b_eq, bounds=(None, None))
    assert found.fun == pytest.approx(float(truth_of(case).values[0][0]), abs=1e-6 * (1 + abs(found.fun)))


@pytest.mark.parametrize("family", FAMILIES)
def test_values_of_the_recipe_are_those_of_the_library(family: str) -> None:
    for number in range(4):
        case = make(family, 7, number)
        x = np.linspace(-1, 1, case.dim)
        for level in case.levels:
            low, high = value(level, exactly(x))
            assert low <= high and level.build().value(x) == pytest.approx(float(low), rel=1e-9, abs=1e-9)


def test_roots_are_enclosed() -> None:
    for square in (Fraction(2), Fraction(1, 3), Fraction(2**90 + 1), Fraction(3, 2**90)):
        low, high = root(square)
        assert low**2 <= square <= high**2 and (high - low) * 2**100 <= high
    assert root(Fraction(25, 16)) == (Fraction(5, 4), Fraction(5, 4))


def test_lies_are_seen() -> None:
    """A bracket one unit in the last place off, a wrong point with success, false words on uniqueness."""
    case, star = toy(), 0.25
    truth = truth_of(case)
    right = {"success": True, "x": np.full(2, 0.5), "brackets": [(0.0, 0.0), (star, star)]}
    right |= {"tolerances": [1e-6] * 2, "values": [0.0, star]}

    def kinds(**changes: object) -> set[str]:
        return {kind for kind, _ in faults(case, truth, Claim("here", **{**right, **changes}))}

    assert kinds() == set()
    assert kinds(brackets=[(0.0, 0.0), (np.nextafter(star, 1), 1.0)]) == {"unsound"}
    assert kinds(brackets=[(0.0, 0.0), (0.0, np.nextafter(star, 0))]) == {"unsound"}
    assert "false success" in kinds(x=np.array([1.0, 0.0]), values=[0.0, 0.5])
    assert "false success" in kinds(x=np.zeros(2), values=[0.5, 0.0])
    assert kinds(unique=True) == {"false uniqueness"}
    assert kinds(constant=True) == {"false constancy"}


def test_the_library_on_the_toy() -> None:
    outcome = audit(toy(), 10.0)
    assert outcome.status == "proved" and not outcome.faults and outcome.two_sided


def test_an_empty_set_has_no_truth() -> None:
    empty = recipe("Polyhedron", A_ub=np.array([[1.0, 0.0]]), b_ub=np.array([-3.0]), bounds=[(-2.0, 2.0)] * 2)
    with pytest.raises(NoTruth):
        truth_of(toy(domain=empty))


def test_failures_become_small_scripts(tmp_path: Path) -> None:
    """A case that "fails" wherever the first cost is tiny loses all else, and its script runs."""
    costs = recipe("Linear", c=np.array([2.0**-40, 1.0, 3.0]))
    goal = recipe("+", parts=[recipe("SquaredNorm", center=np.array([0.3, 0.1, 0.7])), costs])
    case = Case("ties", (costs, goal), recipe("Box", lower=np.zeros(3), upper=np.ones(3)), 3)
    small = shrunk(case, lambda one: "c" in one.levels[0].args and one.levels[0].args["c"][0] == 2.0**-40)
    assert small.dim == 1 and small.levels[1].kind == "SquaredNorm"
    path = tmp_path / "failure.py"
    path.write_text(script(small, truth_of(small), [("unsound", "not really")], 1, 2))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "success: True" in done.stdout, done.stderr


def test_processes_that_die_or_hang_are_counted() -> None:
    tasks = iter([("die", 0), ("sleep", 60), ("fine", 0)])
    found = {task[0]: outcome for task, outcome in outcomes(tasks, behave, 1, 1.5)}
    assert found["die"].kinds == {"crash"} and found["sleep"].kinds == {"hang"} and not found["fine"].kinds


def behave(task: tuple[str, int]) -> Outcome:
    if task[0] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(task[1])
    return Outcome()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_short_audit(family: str) -> None:
    """Some 200 cases, in this process. False alarms of ``verify`` are left to the long runs, which count them."""
    for number in range(22):
        found = [words for kind, words in audit(make(family, 11, number), 10.0).faults if kind != "false alarm"]
        assert not found, f"{family} {number}: {found}"


@pytest.mark.parametrize(
    ("family", "seed", "number"),
    [
        ("sets", 20261201, 237),  # a chart beside a spectrahedron
        ("conditioning", 777001, 679),  # a false alarm where f is steep and g flat
        ("sets", 777001, 573),  # curvatures that are rounding below zero: endless
        ("units", 777001, 938),  # the same
        ("planted", 777002, 175),  # a linear programme beyond HiGHS, in verify
        ("planted", 777003, 357),  # and in the bounds
        ("planted", 777003, 718),  # and in the proof that a polyhedron is bounded
        ("planted", 777004, 209),  # HiGHS went round for ever
        ("sets", 777004, 368),  # what a smooth level keeps at its ends, where the point misses those by rounding
        ("planted", 424243, 2327),  # rows missed by rounding where columns nearly tie: 1e-16 is 1e-8 away
        ("decimals", 202611191, 0),  # four rows that meet in a point but for rounding: a set of many solutions
        ("decimals", 202611191, 610),  # the same below a linear level
        ("decimals", 202611191, 793),  # a vertex that misses a row by rounding, as all others do but one
        ("decimals", 31337, 321),  # and what that means for later levels
        ("decimals", 31337, 436),
        ("decimals", 31337, 2959),
        ("decimals", 31337, 3592),  # bounds in place of rows
        ("decimals", 31337, 5424),  # a vertex that misses nothing in extended precision, and is none
        ("decimals", 31338, 118),  # a bracket without an end is no number of steps
        ("sets", 202611192, 677),  # an upper level that is straight at the point, and bends elsewhere: it has a say
        ("conditioning", 202611194, 80),  # a value of g below g* by its rounding, which f takes for far away
        ("decimals", 90901, 52),  # what a row is missed by is rounded, too
        ("decimals", 90901, 108),  # a tie broken by less than extended precision tells from zero
        ("decimals", 90901, 1105),  # one solution, known to rounding, after levels that say no more
        ("conditioning", 90901, 1233),  # ranks that are not those of the stored data prove nothing
        ("conditioning", 90901, 1612),
        ("decimals", 202611202, 340),  # rows that images leave dependent
        ("planted", 202611202, 360),  # the slope of a level before is rounded on the way from its point, too
        ("open", 202611202, 807),  # a point beside a row is below the optimum with slack
        ("planted", 3, 416),  # what is left of a direction once it changes no image is rounding: a false ray
    ],
)
def test_what_long_audits_found(family: str, seed: int, number: int) -> None:
    assert audit(make(family, seed, number), 10.0).faults == []


def test_mutants_fit_the_code() -> None:
    """A mutant whose text is gone tests nothing: choose another one in its place."""
    assert misfits() == []
