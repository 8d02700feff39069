"""``solve`` for pieces: one that is interrupted is never kept, wherever it runs."""

from __future__ import annotations

from typing import Any

from ...problem import Problem
from ...result import Result
from ...solve import Method
from ...solve import solve as _solve


def solve(problem: Problem, method: Method = "auto", **options: Any) -> Result:
    """As ``tiebreak.solve``, but Ctrl-C raises at a prompt, too."""
    return _solve(problem, method, on_interrupt="raise", **options)
