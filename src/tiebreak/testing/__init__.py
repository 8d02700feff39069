"""Conformance checks for your own objectives, sets and methods: what the library relies on, tried on examples.

Each function returns the number of checks made and raises ``AssertionError`` with a sentence at the first that fails.
"""

from .of_methods import KnownProblem, check_solver, known_problems
from .of_objectives import check_objective
from .of_sets import check_set

__all__ = ["KnownProblem", "check_objective", "check_set", "check_solver", "known_problems"]
