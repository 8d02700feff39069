"""Every method of the library: in the table, by name, and conforming."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.methods import SOLVERS

CONTRACT = [
    "exact",
    "cg-bio",
    "cg-bio-anytime",
    "cg",
    "mng",
    "big-sam",
    "ibig-sam",
    "tseng",
    "a-irg",
    "dbgd",
    "apdb",
    "tikhonov",
    "solodov",
    "cabot",
    "hsdm",
    "sam",
    "ir-cg",
    "agm-bio",
    "pb-apg",
    "apb-apg",
    "fc-bio",
    "bisec-bio",
    "bi-sg",
    "fbi-pg",
    "r-apm",
    "bi-fista",
    "stabim",
    "adabim",
    "sbcgi",
    "sbcgf",
    "ir-scg",
    "ir-fscg",
    "bi-cs",
]


def test_every_name_is_there_with_its_reference() -> None:
    table = tb.methods()
    assert [info.name for info in table] == CONTRACT
    for info in table:
        assert info.reference and 1950 < info.year < 2030 and info.assumptions and info.oracle
        assert isinstance(info.anytime, bool)
    assert all(name in repr(table) for name in CONTRACT)


@pytest.mark.parametrize("name", CONTRACT)
def test_conforms(name: str) -> None:
    assert tb.testing.check_solver(SOLVERS[name]()) > 30


@pytest.mark.parametrize("name", CONTRACT)
def test_runs_by_name_with_sound_bounds(name: str) -> None:
    """Least norm on a hyperplane: f* = 1/8, g* = 0; every method takes it, and no bound is ever wrong."""
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(np.ones((1, 4)), [1.0]), tb.L1Ball(2.0))
    result = tb.solve(problem, name, max_iter=300, tol_upper=1e-3, tol_lower=1e-3)
    c = result.certificate
    assert result.method == name and c.f_lower <= 0.125 + 1e-12 and c.g_lower <= 0.0 <= c.g_upper
    assert result.success == c.shows(1e-3, 1e-3)
