"""The methods of tiebreak behind benchopt's solver: one update after the other, as far as benchopt asks for them."""

from dataclasses import replace
from typing import ClassVar

from benchopt import BaseSolver

import tiebreak as tb
from tiebreak.lab.comparison.settings import FIND_THEIR_START, TOLERANCE
from tiebreak.methods import SOLVERS


class Solver(BaseSolver):
    """A method with its defaults; where it needs a tolerance, 1e-4 in units of the gaps at the start."""

    name = "methods"
    sampling_strategy = "callback"
    parameters: ClassVar = {"method": list(SOLVERS)}

    def set_objective(self, problem, x0, units):
        """The method for this problem."""
        made = SOLVERS[self.method]()
        wanted = {"tol_upper": TOLERANCE * units[0], "tol_lower": TOLERANCE * units[1], "seed": 0}
        self.solver = replace(made, **{name: value for name, value in wanted.items() if getattr(made, name, 0) is None})
        self.problem, self.x = problem, x0
        self.start = None if self.method in FIND_THEIR_START else x0

    def skip(self, problem, x0, units):
        """Whether the method does not take the problem, and why."""
        try:
            tb.plan(problem, self.method)
        except ValueError as error:
            return True, str(error)
        return False, None

    def run(self, callback):
        """Until benchopt has seen enough, or the method is done."""
        for state in tb.iterate(self.problem, self.solver, x0=self.start):
            self.x = self.solver.solution(state)
            if not callback():
                break

    def get_result(self):
        """The point that the method would return."""
        return {"x": self.x}
