"""The door to CVXPY: levels written in CVXPY's own terms, solved one after the other, with a proof.

>>> import cvxpy as cp
>>> from tiebreak.cvxpy import Lexicographic
>>> x = cp.Variable(2, nonneg=True)
>>> p = Lexicographic([cp.Minimize(cp.sum(x)), cp.Minimize(cp.sum_squares(x))], [x[0] + x[1] >= 2])
>>> p.solve()
(2.0, 2.0)
>>> x.value
array([1., 1.])
"""

from __future__ import annotations

try:
    import cvxpy as _cvxpy
except ImportError as error:
    raise ImportError("tiebreak.cvxpy needs CVXPY: pip install 'tiebreak[cvxpy]'") from error

from .model import Lexicographic, problem_from

__all__ = ["Lexicographic", "problem_from"]

del _cvxpy
