"""FromOracles: what follows from the given functions, what does not, and how answers are checked."""

from __future__ import annotations

import numpy as np
import pytest

from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.l2 import L2Ball
from tiebreak.sets.oracles import FromOracles, MissingOracle
from tiebreak.sets.simplex import Simplex

rng = np.random.default_rng(0)


def test_all_given():
    ball = L1Ball(2.0)
    Z = FromOracles(lmo=ball.lmo, project=ball.project, contains=ball.contains, diameter=4.0, dim=5)
    a, c, x = rng.standard_normal((3, 5))
    assert Z.oracles == ball.oracles
    assert Z.diameter == 4.0
    np.testing.assert_array_equal(Z.lmo(c), ball.lmo(c))
    np.testing.assert_array_equal(Z.project(x), ball.project(x))
    b = 0.2 * float(c @ ball.lmo(c))
    np.testing.assert_allclose(Z.lmo_cut(a, c, b).point, ball.lmo_cut(a, c, b).point, atol=1e-12)
    np.testing.assert_allclose(Z.project_cut(x, c, b), ball.project_cut(x, c, b), atol=1e-9)
    assert Z.contains(np.zeros(5))


def test_missing_ones_are_named():
    only_lmo, only_project = FromOracles(lmo=np.negative), FromOracles(project=np.clip)
    with pytest.raises(MissingOracle, match="project="):
        only_lmo.project(np.ones(2))
    with pytest.raises(MissingOracle, match="lmo="):
        only_project.lmo(np.ones(2))
    with pytest.raises(MissingOracle, match="lmo="):
        only_project.lmo_cut(np.ones(2), np.ones(2), 0.0)
    with pytest.raises(MissingOracle, match="project="):
        only_lmo.project_cut(np.ones(2), np.ones(2), 0.0)
    assert only_lmo.oracles == {"lmo", "lmo_cut", "contains"}
    assert only_project.oracles == {"project", "contains"}
    assert issubclass(MissingOracle, TypeError)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("ball", [L1Ball(1.0), L2Ball(1.0), Simplex(), L2Ball(1.0, np.array([5.0, 0, 0, 0]))])
@pytest.mark.parametrize("through", ["project", "lmo"])
def test_membership_without_contains(ball, through, scale):
    """Members, points just outside, and points on the surface of a polytope, told apart by the other oracles."""

    def grown(function):
        return lambda x: scale * function(x / scale)

    Z = FromOracles(**{through: grown(getattr(ball, through))})
    for _ in range(10):
        x = rng.standard_normal(4)
        inside = 0.5 * ball.project(x) + 0.5 * ball.lmo(x)
        if not isinstance(ball, L2Ball):
            assert Z.contains(scale * ball.project(2 * x))
        assert Z.contains(scale * inside)
        assert not Z.contains(scale * (ball.project(10 * x) + 1e-6 * (10 * x - ball.project(10 * x))))


@pytest.mark.parametrize("through", ["project", "lmo"])
def test_tolerance_of_membership(through):
    Z = FromOracles(**{through: getattr(L1Ball(1.0), through)})
    x = np.array([0.25, -0.75, 0.0])
    assert Z.contains((1 + 3e-10) * x)
    assert not Z.contains((1 + 1e-8) * x)
    assert Z.contains((1 + 1e-8) * x, 1e-7)
    assert Z.contains(np.array([1 + 3e-10]))


def test_a_point_that_is_not_found_is_not_a_member():
    far = FromOracles(lmo=lambda c: np.array([3.0, 4.0]))
    assert far.contains(np.array([3.0, 4.0]))
    assert not far.contains(np.array([3.0, 4.1]))
    assert not far.contains(np.zeros(2))


@pytest.mark.parametrize("answer", [np.ones(3), np.array([np.nan, 0]), "text", np.ones((2, 1))])
def test_wrong_answers_are_refused(answer):
    with pytest.raises((ValueError, TypeError), match="the answer of lmo"):
        FromOracles(lmo=lambda c: answer).lmo(np.ones(2))
    with pytest.raises((ValueError, TypeError), match="the answer of project"):
        FromOracles(project=lambda x: answer).project(np.ones(2))


def test_bad_arguments():
    with pytest.raises(TypeError, match="needs lmo, project or both"):
        FromOracles()
    with pytest.raises(TypeError, match="lmo must be a function"):
        FromOracles(lmo=3)
    with pytest.raises(ValueError, match="diameter"):
        FromOracles(lmo=np.negative, diameter=-1.0)
    with pytest.raises(ValueError, match="diameter holds NaN"):
        FromOracles(lmo=np.negative, diameter=np.nan)
    with pytest.raises(ValueError, match="dim"):
        FromOracles(lmo=np.negative, dim=0)
    with pytest.raises(ValueError, match="c has length 3"):
        FromOracles(lmo=np.negative, dim=2).lmo(np.ones(3))
