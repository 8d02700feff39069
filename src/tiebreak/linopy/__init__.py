"""The door to linopy: after the objective of a model, further ones over its solutions, with a proof.

>>> import linopy, pandas as pd
>>> import tiebreak.linopy
>>> model = linopy.Model()
>>> x = model.add_variables(lower=0, upper=4, coords=[pd.RangeIndex(3, name="hour")], name="x")
>>> demand = model.add_constraints(x.sum() >= 6, name="demand")
>>> model.add_objective(x.sum())
>>> status, condition = tiebreak.linopy.solve(model, then=[((x**2).sum(), "min")])
>>> condition, model.solution["x"].values, float(model.dual["demand"])
('optimal', array([2., 2., 2.]), 1.0)
"""

from __future__ import annotations

try:
    import linopy as _linopy
except ImportError as error:
    raise ImportError("tiebreak.linopy needs linopy: pip install 'tiebreak[linopy]'") from error

from .model import Alternatives, Solved, solve, tradeoff
from .translation import problem_from

__all__ = ["Alternatives", "Solved", "problem_from", "solve", "tradeoff"]

del _linopy
