"""The exact engine by columns: both levels over the vertices of a polytope that its linear oracle supplies.

For g(x) = h(Ax) + <q, x> with h strictly convex the lower solutions are the points of the optimal face with A x = t*.
Level 1 minimises g over mixes of vertices; level 2 minimises f over mixes that keep A x = t*, with vertices priced
lexicographically; the price that ends it is the proof of optimality.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arrays import Vector
from ...numerics.extended import EXTENDED
from ...objectives.base import Objective
from ...problem import Problem
from ...sets.base import Domain
from ..answer import Answer, Elsewhere
from ..interrupt import keeping
from .atoms import Atoms, OnAxes, atoms_of
from .bracket import Bracket
from .dependence import RANKS
from .evaluated import lowest, sharpens
from .face import AxisFace, optimal_face
from .generation import Normal, generate, start
from .interior import may_be_dense, warm_start
from .level import Smooth, check_scale
from .linear_face import separated
from .master import Master
from .sweep import lower_scale
from .vertices import Vertices

CROWD = 150  # vertices, beyond which an interior point is the faster start
FEW = 64  # vertices at the lower level, beyond which another engine is asked, where there is one and f may need many
GLANCE = 16  # vertices that enter at the upper level before another engine is asked, where there is one
RANK_TOLERANCES = (1e-9, 1e-6)
FLAT = 1e-13  # slopes of the lower level below this, relative to their scale, are zero
FEASIBLE = 1e-10  # ||A x - t*|| relative to the size of the images
WIDE = 1e-6  # a bracket wider than this, relative to the terms of f, is the mark of an ill-posed problem
ENDS = {"repeated": "at the limit of the arithmetic", "limit": "after max_steps steps"}


def solve_columns(problem: Problem, *, tol: float = 1e-9, max_steps: int = 50_000, patient: bool = True) -> Answer:
    """The solution of a bilevel problem over a polytope, with a bracket around both optimal values.

    Parameters
    ----------
    problem : Problem
        One that :func:`columns_apply` has passed, which is not asked again.
    tol : float
        A bracket on f* wider than this, relative to 1 + |f|, is computed again in extended precision where that is
        possible, and mentioned in the notes if it stays so wide.
    max_steps : int
        Vertices priced at most, in both levels together.
    patient : bool
        Whether to go on where the answer seems to mix many vertices, else ``Elsewhere`` is raised.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0, 2.0]], [1.0]), tb.L1Ball(2.0))
    >>> answer = solve_columns(problem)
    >>> answer.x.round(12) + 0.0, answer.lower_unique
    (array([0.16666667, 0.16666667, 0.33333333]), False)
    """
    lower, upper = Smooth(problem.lower.form, problem.dim), Smooth(problem.upper.form, problem.dim)
    atoms = atoms_of(problem.domain, problem.dim)
    check_scale(upper, "upper", atoms.reach)
    check_scale(lower, "lower", atoms.reach)
    crowd = None if patient or not may_be_dense(upper) else FEW
    solved = _lower_level(problem, lower, atoms, max_steps, crowd)
    notes = [f"the lower level ended {ENDS[solved.end]}"] if solved.end in ENDS else []
    steps = solved.steps
    for rank_tol in RANK_TOLERANCES:
        with keeping(lambda: Answer(solved.vertices.point(), -np.inf, np.inf, -np.inf, np.inf)):
            master, lam, more, end = _upper_level(problem, lower, upper, solved, rank_tol, max_steps - steps, patient)
        steps += more
        residual = master.settle(FEASIBLE)
        if residual <= FEASIBLE:
            break
    else:
        master, lam = Master(solved.vertices.next_level(upper, solved.t_star), rank_tol), 0.0
        notes.append("no rank of the data is clear enough to choose among the lower solutions: x is some one of them")
    if end in ENDS:
        notes.append(f"the upper level ended {ENDS[end]}")
    bracket = Bracket(problem, lower, upper, master, lam)
    f_lower, f_upper = bracket.f_lower(), bracket.f_upper()
    wide = not max(f_upper, bracket.f.value) - f_lower <= tol * (1 + abs(bracket.f.value))
    sharp = wide and sharpens(lower)
    if sharp:
        if master.v.count > bracket.count:  # without what the first look added: it may be off the face for the second
            master = Master(master.v.first(bracket.count), rank_tol)
        bracket = Bracket(problem, lower, upper, master, lam, sharp=True)
        f_lower, f_upper = max(f_lower, bracket.f_lower()), min(f_upper, bracket.f_upper())
    solutions = bracket.solutions
    notes.append(f"columns of the data count as dependent at a relative tolerance of {rank_tol:g}")
    width = (f_upper if np.isfinite(f_upper) else bracket.f.value) - f_lower
    scale = 1 + abs(bracket.f.value) + upper.push * float(master.v.size[: master.v.count].max())
    tied = bracket.linear is not None and bracket.linear.tied
    if tied:
        notes.append("costs of the lower level differ by mere rounding: f* is bracketed with that tie and without")
    decided = solutions.shown or solutions.spanned or np.isfinite(f_upper)
    well_posed = bool(decided) and not tied and residual <= FEASIBLE and width <= WIDE * scale
    if width > tol * (1 + abs(bracket.f.value)):
        notes.append(f"f* is known to within {width:.1e} only")
    if not well_posed:
        notes.append("the answer hangs on rounding: a slack (tradeoff) says what the data can support")
    assumes = [*([EXTENDED] if sharp else []), *([RANKS] if bracket.by_rank or solutions.by_rank else [])]
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
        assumes=tuple(assumes),
        steps=steps,
    )


@dataclass(frozen=True)
class Solved:
    """The lower level: vertices and weights of a solution, its image t*, and the slopes there.

    ``normal`` is grad g, ``level`` its least value over Z, and differences up to ``resolution`` are noise; ``flat``
    says that it is zero up to noise.
    """

    vertices: Vertices
    t_star: Vector
    normal: Vector
    level: float
    resolution: float
    flat: bool
    steps: int
    end: str


def _lower_level(problem: Problem, lower: Smooth, atoms: Atoms, max_steps: int, crowd: int | None = None) -> Solved:
    domain = problem.domain
    vertices = start(atoms, lower)
    master = Master(vertices, RANK_TOLERANCES[0])
    steps, end, _, found_scale, slope = generate(master, None, max_steps, max_steps if crowd is None else crowd)
    if end == "crowded" and crowd is not None:
        raise Elsewhere("many vertices are in use at the lower level")
    optimal = end == "optimal"
    normal = slope if optimal else lower.pull(master.t.slope)
    scale = found_scale if optimal else lower_scale(master.t, master.bend)
    if lower.data is None:  # one vertex: all that matters is which others cost as much, exactly
        normal = separated(atoms, domain, normal)
        level = float(normal @ vertices.point())
    else:
        level = float(vertices.w[: vertices.count] @ master.t.gradient[: vertices.count])
    flat = -lowest(vertices.atoms, domain, -normal) - level <= FLAT * scale
    return Solved(vertices, master.image, normal, level, 1e-14 * scale, flat, steps, end)


def _upper_level(
    problem: Problem,
    lower: Smooth,
    upper: Smooth,
    solved: Solved,
    rank_tol: float,
    max_steps: int,
    patient: bool = True,
) -> tuple[Master, float, int, str]:
    """The weights of the answer, the price of the lower level, the steps, and how they ended."""
    domain = problem.domain
    normal = Normal(lower, solved.normal, solved.level, solved.resolution, solved.flat)
    vertices = solved.vertices.next_level(upper, solved.t_star)
    master = Master(vertices, rank_tol)
    crowd, face = max_steps, None
    if may_be_dense(upper):
        if (
            solved.flat and not patient and not upper.b.any() and problem.dim > GLANCE
        ):  # what is near to zero mixes all of them
            raise Elsewhere("the lower level leaves all vertices free")
        if isinstance(vertices.atoms, OnAxes):
            ties = np.full(problem.dim, solved.resolution / (domain.diameter or 1.0))
            face = optimal_face(vertices.atoms, domain, lower, solved.normal, ties, 0.0)
        if face is None or face.size > CROWD:
            crowd = CROWD if patient else vertices.count + GLANCE
    steps, end, lam, _, _ = generate(master, normal, max_steps, crowd)
    if end == "crowded":
        if not patient:
            raise Elsewhere("many vertices are in use at the upper level")
        if isinstance(face, AxisFace) and (dense := warm_start(vertices, face, lower, upper)) is not None:
            master = Master(dense, rank_tol)
        more, end, lam, _, _ = generate(master, normal, max_steps - steps, max_steps, lam)
        steps += more
    return master, lam, steps, end


def minimiser(domain: Domain) -> Callable[[Objective], Answer]:
    """A function that minimises one objective over the domain; each begins with the vertices of the last solution."""
    assert domain.dim is not None
    dim, atoms = domain.dim, atoms_of(domain, domain.dim)
    used: list[Vertices] = []

    def minimise(objective: Objective) -> Answer:
        level = Smooth(objective.form, dim)
        check_scale(level, "objective", atoms.reach)
        vertices = start(atoms, level)
        if used:
            old = used.pop()
            vertices = Vertices(atoms, level)
            vertices.add(old.code[: old.count], old.w[: old.count])
        used.append(vertices)
        generate(Master(vertices, rank_tol=RANK_TOLERANCES[0]), None, 50_000, 50_000)
        return Answer(vertices.point(), -np.inf, np.inf, -np.inf, np.inf)

    return minimise
