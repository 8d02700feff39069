"""Problems with something to decide: many lower solutions, and optimal values by a route of their own.

``FAMILIES[name].generate(seed, size)`` makes an instance; ``small`` and ``sizes`` list sizes for tests and for
benchmarks. Values come from ``reference.py`` or from a closed form, never from tiebreak. Where ties and ranks decide,
the data are small integers, so that what is meant is true of the floating-point numbers too.
"""

from __future__ import annotations

from families_columns import intercept, interpolation, logistic, portfolio, regression
from families_rows import assignment, flux, hierarchy, integral, polytope, transport
from family import Generator

FAMILIES = {
    "interpolation": Generator(
        interpolation,
        ((12, 30, 8, 1.5),),
        tuple((25, 60, 20, factor) for factor in (1.2, 1.5, 2.0, 3.0))
        + tuple((40, 150, 30, factor) for factor in (1.2, 1.6, 3.0))
        + tuple((60, 300, 60, factor) for factor in (1.2, 2.0)),
    ),
    "regression": Generator(regression, ((1.0, 60, 21),), ((0.5, 200, 101), (1.0, 300, 151), (2.0, 300, 201))),
    "portfolio": Generator(
        portfolio,
        ((4, 12, "zero", "spread"), (4, 12, "positive", "spread"), (4, 12, "positive", "return")),
        tuple(
            (t, n, market, goal)
            for t, n in ((6, 25), (10, 60))
            for market in ("zero", "positive", "covariance")
            for goal in ("spread", "return")
        ),
    ),
    "logistic": Generator(logistic, ((30, 5, 1.0),), ((60, 10, 1.0), (100, 25, 2.0), (200, 60, 3.0))),
    "intercept": Generator(
        intercept, ((5, 10, 1.0), (5, 10, 0.03)), ((10, 30, 1.0), (10, 30, 0.03), (20, 60, 1.0), (20, 60, 0.02))
    ),
    "transport": Generator(transport, ((4, 5),), ((8, 10), (15, 20), (20, 30))),
    "assignment": Generator(
        assignment,
        ((5, 2, "birkhoff"), (5, 2, "rows")),
        tuple((n, top, form) for n, top in ((8, 2), (12, 3), (20, 3), (20, 10)) for form in ("birkhoff", "rows")),
    ),
    "polytope": Generator(
        polytope, ((6, 2, "point"), (6, 3, "loss")),
        ((10, 3, "point"), (20, 5, "loss"), (40, 5, "point"), (60, 20, "loss")),
    ),
    "hierarchy": Generator(
        hierarchy,
        ((7, 3), (7, 4), (7, 3, "unit")),
        tuple((n, levels) for n in (7, 15, 30, 50) for levels in (3, 4)),
    ),
    "integral": Generator(
        integral, (("phillips", 8),),
        (("phillips", 20), ("phillips", 40), ("baart", 20), ("baart", 40), ("foxgood", 20), ("foxgood", 40)),
    ),
    "flux": Generator(flux, (), ("norm", "total", "chain"), needs="cobra"),
}  # fmt: skip
