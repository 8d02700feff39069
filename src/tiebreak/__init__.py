"""Simple bilevel (lexicographic) convex optimisation: the best point among all minimisers, with a proof.

>>> import tiebreak as tb
>>> problem = tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares([[1.0, 1.0]], [1.0]), domain=tb.L1Ball(2.0))
>>> result = tb.solve(problem)
>>> result.success, result.x.round(2)
(True, array([0.5, 0.5]))
"""

import logging
from typing import TYPE_CHECKING, Any

from . import objectives, sets, steps
from .callbacks import Checkpoint, Event, Every, Progress, Trace
from .certificate import Certificate, Level
from .compare import Comparison, compare
from .lexicographic import lexicographic
from .methods import METHODS, Solver, State, methods, register
from .plan import Plan, plan
from .problem import ErrorBound, Problem
from .result import Result, Status
from .solve import iterate, solve
from .tradeoff import Tradeoff, tradeoff
from .usercode import OracleError

if TYPE_CHECKING:
    from . import testing
    from .explorer import explore
    from .jax import from_jax as from_jax
    from .methods import *  # noqa: F403 - the classes of the methods
    from .objectives import (
        ConvexityError,
        Function,
        GradientError,
        GroupNorm,
        Huber,
        L1Norm,
        LeastSquares,
        Linear,
        Logistic,
        Loss,
        LossOf,
        MaxAffine,
        Objective,
        Poisson,
        Quadratic,
        Reconstruction,
        Softmax,
        SquaredCovariance,
        SquaredHinge,
        SquaredNorm,
        check_gradient,
    )
    from .prepared import Prepared, PreparedAnswer, prepare
    from .rational import NotProved, Proof
    from .sets import (
        Birkhoff,
        Box,
        Columns,
        Cone,
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
        Space,
        Spectrahedron,
    )
    from .torch import from_torch as from_torch


def __getattr__(name: str) -> Any:
    """What is loaded when it is first asked for: objectives, sets, methods, proofs, doors, the conformance checks."""
    from importlib import import_module

    for part in (objectives, sets):
        if name in __all__ and name in part.__all__:
            return getattr(part, name)
    if name in ("NotProved", "Proof"):
        return getattr(import_module(".rational", __name__), name)
    if name in ("Prepared", "PreparedAnswer", "prepare"):
        return getattr(import_module(".prepared", __name__), name)
    if name in ("from_jax", "from_torch"):
        return getattr(import_module(f".{name.removeprefix('from_')}", __name__), name)
    if name == "explore":
        return import_module(".explorer", __name__).explore
    if name == "testing":
        return import_module(".testing", __name__)
    if name in METHODS.values():
        return getattr(import_module(".methods", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "0.2.0"

logging.getLogger("tiebreak").addHandler(logging.NullHandler())

__all__ = [  # without from_jax and from_torch: a star must not need what is not installed
    "Birkhoff",
    "Box",
    "Certificate",
    "Checkpoint",
    "Comparison",
    "Columns",
    "Cone",
    "ConvexityError",
    "Cut",
    "CutStatus",
    "Domain",
    "ErrorBound",
    "Event",
    "Every",
    "FromOracles",
    "Function",
    "GradientError",
    "GroupBall",
    "GroupNorm",
    "Huber",
    "KSparse",
    "L1Ball",
    "L1Norm",
    "L2Ball",
    "LeastSquares",
    "Level",
    "Linear",
    "Logistic",
    "Loss",
    "LossOf",
    "LpBall",
    "MaxAffine",
    "MissingOracle",
    "NotProved",
    "NuclearBall",
    "Objective",
    "OracleError",
    "Plan",
    "Poisson",
    "Polyhedron",
    "Prepared",
    "PreparedAnswer",
    "Problem",
    "Product",
    "Progress",
    "Proof",
    "Quadratic",
    "Reconstruction",
    "Result",
    "Simplex",
    "Softmax",
    "Solver",
    "Space",
    "Spectrahedron",
    "SquaredCovariance",
    "SquaredHinge",
    "SquaredNorm",
    "State",
    "Status",
    "Trace",
    "Tradeoff",
    "__version__",
    "check_gradient",
    "compare",
    "explore",
    "iterate",
    "lexicographic",
    "methods",
    "plan",
    "prepare",
    "register",
    "solve",
    "steps",
    "testing",
    "tradeoff",
    *METHODS.values(),
]
