"""Simple bilevel (lexicographic) convex optimisation: the best point among all minimisers, with a proof.

>>> import tiebreak as tb
>>> problem = tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares([[1.0, 1.0]], [1.0]), domain=tb.L1Ball(2.0))
>>> result = tb.solve(problem)
>>> result.success, result.x.round(2)
(True, array([0.5, 0.5]))
"""

import logging

from . import steps, testing
from .callbacks import Event, Progress, Trace
from .certificate import Certificate
from .lexicographic import Chain, lexicographic
from .objectives import (
    ConvexityError,
    Function,
    GradientError,
    Huber,
    LeastSquares,
    Linear,
    Logistic,
    Objective,
    Quadratic,
    SquaredCovariance,
    SquaredNorm,
    check_gradient,
)
from .problem import ErrorBound, Problem
from .result import Result, Status
from .sets import (
    Birkhoff,
    Box,
    Columns,
    Cut,
    CutStatus,
    Domain,
    FromOracles,
    GroupBall,
    KSparse,
    L1Ball,
    L2Ball,
    LpBall,
    MissingOracle,
    NuclearBall,
    Polyhedron,
    Product,
    Simplex,
    Spectrahedron,
)
from .solve import iterate, solve
from .solvers import CG, CGBiO, Exact, Solver, State, methods
from .tradeoff import Tradeoff, tradeoff

__version__ = "0.1.0"

logging.getLogger("tiebreak").addHandler(logging.NullHandler())

__all__ = [
    "CG",
    "Birkhoff",
    "Box",
    "CGBiO",
    "Certificate",
    "Chain",
    "Columns",
    "ConvexityError",
    "Cut",
    "CutStatus",
    "Domain",
    "ErrorBound",
    "Event",
    "Exact",
    "FromOracles",
    "Function",
    "GradientError",
    "GroupBall",
    "Huber",
    "KSparse",
    "L1Ball",
    "L2Ball",
    "LeastSquares",
    "Linear",
    "Logistic",
    "LpBall",
    "MissingOracle",
    "NuclearBall",
    "Objective",
    "Polyhedron",
    "Problem",
    "Product",
    "Progress",
    "Quadratic",
    "Result",
    "Simplex",
    "Solver",
    "Spectrahedron",
    "SquaredCovariance",
    "SquaredNorm",
    "State",
    "Status",
    "Trace",
    "Tradeoff",
    "__version__",
    "check_gradient",
    "iterate",
    "lexicographic",
    "methods",
    "solve",
    "steps",
    "testing",
    "tradeoff",
]
