"""A problem as a hierarchy for the loops: rows of all levels, ends of a box, and which right-hand sides they have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Vector, as_vector
from ..kernels import wanted
from ..numerics.extended import dense
from ..numerics.rank import exact_rank
from ..objectives import LeastSquares, SquaredNorm
from ..objectives.base import Objective
from ..objectives.form import Term
from ..problem import Problem
from .hierarchy import Tasks

LARGEST = 200
"""So many variables and rows: beyond, sparse factors are faster."""


class Hierarchy(NamedTuple):
    """Levels 1/2 sum_i w_i ((A x)_i - b_i)^2 over a box, in the variables roots * x.

    ``scales`` are the square roots of the weights of all rows; ``sides`` the right-hand sides as given, with the centre
    of the last level, if it is a norm.
    """

    tasks: Tasks
    roots: Vector
    scales: Vector
    sides: tuple[Vector, ...]
    ends_in_norm: bool

    @property
    def plain(self) -> bool:
        """Whether there are no weights."""
        return bool((self.roots == 1).all() and (self.scales == 1).all())


def squares(level: Objective) -> Term | None:
    """The term of a level that is one square of a linear map, with all its rows; else None."""
    form = level.form
    if form is None or len(form.losses) != 1 or form.bends or form.slopes or form.norms or form.pieces:
        return None
    term = form.losses[0]
    given = getattr(level, "weights", None)
    return term if term.loss.quadratic and (given is None or bool(np.all(given > 0))) else None


def side(term: Term, dim: int) -> Vector:
    """The right-hand side of a term, zeros where it has none."""
    size = dim if term.data is None else term.data.shape[0]
    return np.zeros(size) if term.loss.target is None else np.asarray(term.loss.target)


def with_side(level: Objective, b: Any, name: str) -> Objective:
    """The same level with another right-hand side."""
    term = squares(level)
    if term is None:
        raise ValueError(f"{name} must be None: its level is no least squares with one right-hand side")
    assert level.dim is not None or term.data is None
    weights = term.loss.weights
    b = as_vector(b, name, side(term, level.dim or np.size(b)).size)
    made = SquaredNorm(b, weights=weights) if term.data is None else LeastSquares(term.data.raw, b, weights=weights)
    return made if term.scale == 1 else float(term.scale) * made


def why_not(problem: Problem) -> str:
    """Empty where the loops take a problem, else the reason."""
    terms = [squares(level) for level in problem.levels]
    rows = problem.domain.rows
    if not wanted():
        return "numba is not there"
    if rows is None or rows.limits_sizes or rows.A.shape[0]:
        return f"{problem.domain!r} is no box"
    if any(problem.slacks) or problem.relative_slack or any(problem.relative_slack_before):
        return "it has slack"
    if None in terms or not all(level.form is not None and level.form.matrices for level in problem.levels):
        return "some level is no least squares"
    count = sum(side(term, problem.dim).size for term in terms if term is not None)
    if max(problem.dim, count - problem.dim * (terms[-1] is not None and terms[-1].data is None)) > LARGEST:
        return f"it has more than {LARGEST} variables or rows"
    return ""


def in_rows(problem: Problem) -> Hierarchy:
    """What the loops need, of a problem that they take."""
    n, rows = problem.dim, problem.domain.rows
    terms = [term for level in problem.levels if (term := squares(level)) is not None]
    assert rows is not None
    last = terms[-1]
    ends_in_norm = last.data is None
    above = terms[:-1] if ends_in_norm else terms
    roots = np.ones(n)
    if ends_in_norm and last.loss.weights is not None:
        roots = np.sqrt(last.loss.weights)
    data = [np.eye(n) if term.data is None else dense(term.data.raw) for term in above]
    weights = [np.broadcast_to(np.sqrt(term.loss.most), len(A)) for A, term in zip(data, above, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(A) for A in data])]).astype(np.int64)
    A = np.vstack([np.zeros((0, n)), *data])
    ranks = [exact_rank(A[:end]) or 0 for end in starts[1:]]
    scales = np.concatenate([np.zeros(0), *weights])
    C = scales[:, None] * A / roots
    given = [side(term, n) for term in terms]
    center = given[-1] if ends_in_norm else np.zeros(n)
    tasks = Tasks(
        np.ascontiguousarray(C.T),
        np.asarray(rows.lower * roots, dtype=np.float64),
        np.asarray(rows.upper * roots, dtype=np.float64),
        np.ascontiguousarray(center * roots),
        C @ C.T,
        starts,
        np.diff([0, *ranks]).astype(np.int64),
    )
    return Hierarchy(tasks, roots, scales, tuple(given), ends_in_norm)
