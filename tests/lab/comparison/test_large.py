"""The large families, made small: planted answers are those of exact solves, paths through the network the cheapest."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.comparison.families import Family
from tiebreak.lab.comparison.large import Layers, birkhoff, flows, nuclear, spectrahedron

SMALL = {
    "nuclear": partial(nuclear, 9, 2, 0.4),
    "spectrahedron": partial(spectrahedron, 8, 2, 6),
    "birkhoff": partial(birkhoff, 6, 3, 0.3),
    "flows": partial(flows, 4, 3, 4, 0.3),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_planted_answer_is_the_answer(name: str) -> None:
    family: Family = SMALL[name]()
    assert family.problem.domain.contains(family.x_star, 1e-9)
    assert family.problem.lower.value(family.x_star) <= 1e-24
    problem = family.problem
    if name == "flows":  # the same set by rows
        network = Layers(4, 3)
        B = network.conservation()
        balance = np.append([-1.0], np.zeros(B.shape[0] - 1))
        problem = tb.Problem(problem.upper, problem.lower, tb.Polyhedron(A_eq=B, b_eq=balance, bounds=(0, 1)))
    result = tb.solve(problem, tol_upper=1e-6, tol_lower=1e-8)
    assert result.success
    assert result.f == pytest.approx(family.f_star, abs=1e-6)
    assert result.x == pytest.approx(family.x_star, abs=3e-3)  # f is strongly convex: 1e-6 in f


def test_the_cheapest_path_is_the_linear_minimum() -> None:
    rng, network = np.random.default_rng(5), Layers(5, 4)
    B = network.conservation()
    balance = np.append([-1.0], np.zeros(B.shape[0] - 1))
    rows = tb.Polyhedron(A_eq=B, b_eq=balance, bounds=(0, 1))
    for costs in rng.standard_normal((20, network.edges)):
        path = network.cheapest(costs)
        assert B @ path == pytest.approx(balance, abs=0)
        assert costs @ path == pytest.approx(costs @ rows.lmo(costs), abs=1e-9)
