"""Simple bilevel (lexicographic) convex optimisation: the best point among all minimisers, with a proof.

>>> import tiebreak as tb
>>> problem = tb.Problem(upper=tb.SquaredNorm(), lower=tb.LeastSquares([[1.0, 1.0]], [1.0]), domain=tb.L1Ball(2.0))
>>> result = tb.solve(problem)
>>> result.success, result.x.round(2)
(True, array([0.5, 0.5]))
"""

import logging
from typing import TYPE_CHECKING, Any

from . import steps
from .callbacks import Checkpoint, Event, Progress, Trace
from .certificate import Certificate
from .lexicographic import Chain, lexicographic
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
    Objective,
    Quadratic,
    Reconstruction,
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
from .solvers import Solver, State, methods
from .tradeoff import Tradeoff, tradeoff
from .usercode import OracleError

if TYPE_CHECKING:
    from . import testing
    from .solvers import (
        AIRG,
        APBAPG,
        APDB,
        CG,
        DBGD,
        HSDM,
        IRCG,
        MNG,
        PBAPG,
        RAPM,
        SAM,
        SBCGF,
        SBCGI,
        AdaBiM,
        AGMBiO,
        BiFISTA,
        BiGSAM,
        BisecBiO,
        BiSG,
        Cabot,
        CGBiO,
        Exact,
        FBiPG,
        FCBiO,
        IBiGSAM,
        Solodov,
        StaBiM,
        Tikhonov,
        Tseng,
    )


def __getattr__(name: str) -> Any:
    """The methods, each loaded when it is first asked for, and the conformance checks."""
    from importlib import import_module

    if name == "testing":
        return import_module(".testing", __name__)
    if name in __all__:
        return getattr(import_module(".solvers", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "0.1.0"

logging.getLogger("tiebreak").addHandler(logging.NullHandler())

__all__ = [
    "AIRG",
    "APBAPG",
    "APDB",
    "CG",
    "DBGD",
    "HSDM",
    "IRCG",
    "MNG",
    "PBAPG",
    "RAPM",
    "SAM",
    "SBCGF",
    "SBCGI",
    "AGMBiO",
    "AdaBiM",
    "BiFISTA",
    "BiGSAM",
    "BiSG",
    "Birkhoff",
    "BisecBiO",
    "Box",
    "CGBiO",
    "Cabot",
    "Certificate",
    "Chain",
    "Checkpoint",
    "Columns",
    "ConvexityError",
    "Cut",
    "CutStatus",
    "Domain",
    "ErrorBound",
    "Event",
    "Exact",
    "FBiPG",
    "FCBiO",
    "FromOracles",
    "Function",
    "GradientError",
    "GroupBall",
    "GroupNorm",
    "Huber",
    "IBiGSAM",
    "KSparse",
    "L1Ball",
    "L1Norm",
    "L2Ball",
    "LeastSquares",
    "Linear",
    "Logistic",
    "LpBall",
    "MissingOracle",
    "NuclearBall",
    "Objective",
    "OracleError",
    "Polyhedron",
    "Problem",
    "Product",
    "Progress",
    "Quadratic",
    "Reconstruction",
    "Result",
    "Simplex",
    "Solodov",
    "Solver",
    "Spectrahedron",
    "SquaredCovariance",
    "SquaredNorm",
    "StaBiM",
    "State",
    "Status",
    "Tikhonov",
    "Trace",
    "Tradeoff",
    "Tseng",
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
