"""The exact engine by columns: both levels over the vertices of a polytope that its linear oracle supplies.

For g(x) = h(Ax) + <q, x> with h strictly convex the lower solutions are the points of the optimal face with A x = t*.
Level 1 minimises g over mixes of vertices; level 2 minimises f over mixes that keep A x = t*, with vertices priced
lexicographically; the price that ends it is the proof of optimality.
"""

from __future__ import annotations

import numpy as np

from ..problem import Problem
from .answer import Answer
from .column_bracket import Bracket
from .generation import LowerPrice, UpperPrice, generate, start
from .interior import warm_start
from .master import Master
from .smooth import Smooth, Unsupported
from .vertex_face import optimal_face

CROWD = 400  # vertices, beyond which an interior point is faster
RANK_TOLERANCES = (1e-9, 1e-6)
FEASIBLE = 1e-10  # ||A x - t*|| relative to the size of the images
WIDE = 1e-6  # a bracket wider than this is the mark of an ill-posed problem


def columns_apply(problem: Problem) -> str:
    """Empty if :func:`solve_columns` applies, else the reason why not."""
    if problem.slack > 0:
        return "slack is positive"
    if not problem.domain.polytope:
        return "the domain is not known to be a polytope with exact vertices"
    if not problem.upper.convex:
        return "upper is not convex"
    try:
        Smooth(problem.upper, problem.dim)
    except Unsupported as reason:
        return f"upper: {reason}"
    try:
        lower = Smooth(problem.lower, problem.dim)
    except Unsupported as reason:
        return f"lower: {reason}"
    predictor = problem.lower.predictor
    if lower.links and not (predictor is not None and predictor.strictly_convex):
        return "lower is not h(Ax) + <q, x> with a strictly convex h"
    return ""


def solve_columns(problem: Problem, *, tol: float = 1e-10, max_steps: int = 50_000) -> Answer:
    """The solution of a bilevel problem over a polytope, with a bracket around both optimal values.

    Parameters
    ----------
    problem : Problem
        One to which the engine applies, see :func:`columns_apply`.
    tol : float
        A bracket on f* wider than this, relative to 1 + |f|, is called ill-posed.
    max_steps : int
        Vertices priced at most, in both levels together.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0, 2.0]], [1.0]), tb.L1Ball(2.0))
    >>> answer = solve_columns(problem)
    >>> answer.x.round(12) + 0.0, answer.lower_unique
    (array([0.16666667, 0.16666667, 0.33333333]), False)
    """
    reason = columns_apply(problem)
    if reason:
        raise ValueError(f"the column engine does not apply: {reason}")
    lower, upper = Smooth(problem.lower, problem.dim), Smooth(problem.upper, problem.dim)
    for rank_tol in RANK_TOLERANCES:
        bracket, steps, ends = _both_levels(problem, lower, upper, rank_tol, max_steps)
        residual = bracket.master.residual()
        if residual <= FEASIBLE:
            break
    f_lower, f_upper = bracket.f_lower(), bracket.f_upper()
    solutions = bracket.solutions
    notes = [f"columns of the data count as dependent at a relative tolerance of {rank_tol:g}"]
    width = (f_upper if np.isfinite(f_upper) else bracket.f.value) - f_lower
    well_posed = not solutions.doubtful and residual <= FEASIBLE and width <= WIDE * (1 + abs(bracket.f.value))
    if not well_posed:
        notes.append("the answer hangs on rounding: a slack (tradeoff) says what the data can support")
    notes += [f"level {i + 1} ended: {end}" for i, end in enumerate(ends) if end != "optimal"]
    assumes = ("columns that count as dependent are dependent",) if solutions.by_tolerance else ()
    return Answer(
        x=bracket.x,
        g_lower=bracket.g_lower,
        g_upper=bracket.g_upper,
        f_lower=f_lower,
        f_upper=f_upper,
        multiplier=bracket.lam,
        lower_unique=solutions.unique,
        upper_constant=solutions.constant,
        well_posed=well_posed,
        notes=tuple(notes),
        assumes=assumes,
        steps=steps,
    )


def _both_levels(
    problem: Problem, lower: Smooth, upper: Smooth, rank_tol: float, max_steps: int
) -> tuple[Bracket, int, tuple[str, str]]:
    domain = problem.domain
    vertices = start(domain, lower, problem.dim)
    master = Master(vertices, rank_tol)
    steps, end = generate(master, LowerPrice(domain, lower), max_steps, max_steps)
    normal = lower.pull(master.slope)
    level = float(vertices.w[: vertices.count] @ master.gradient)
    scale = LowerPrice(domain, lower).offer(master).scale
    vertices.minimise_next(upper, master.image.copy())
    top = float(normal @ domain.lmo(-normal))
    resolution = 1e-14 * scale
    price = UpperPrice(domain, upper, lower, normal, level, resolution, flat=top - level <= 1e-10 * scale)
    master = Master(vertices, rank_tol)
    crowd = CROWD if upper.quadratic else max_steps
    more, end2 = generate(master, price, max_steps - steps, crowd)
    steps += more
    if end2 == "crowded":
        tie = resolution / (domain.diameter or 1.0)
        face = optimal_face(domain, lower, normal, np.full(problem.dim, tie), 0.0)
        dense = None if face is None or not face.complete else warm_start(vertices, face, lower, upper)
        if dense is not None:
            master = Master(dense, rank_tol)
        more, end2 = generate(master, price, max_steps - steps, max_steps)
        steps += more
    master.refresh()
    return Bracket(problem, lower, upper, master, price.lam), steps, (end, end2)
