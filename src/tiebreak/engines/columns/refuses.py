"""What the engine by columns takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from scipy import sparse

from ...arrays import Matrix
from ...objectives.base import Objective
from ...sets.base import Domain

DENSE_ROOT = 2000  # a Quadratic of at most this many variables gets a factor of its Q


def columns_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where ``solve_columns`` takes them, else the reason why not; a single level is both of two."""
    if len(levels) > 2:
        return f"it takes two levels, not {len(levels)}"
    lower, upper = levels[0], levels[-1]
    if not domain.polytope:
        return "the domain is not known to be a polytope with exact vertices"
    if not upper.convex:
        return "upper is not convex"
    for name, objective in (("upper", upper), ("lower", lower)):
        if reason := why_unsupported(objective):
            return f"{name}: {reason}"
    form = lower.form
    return "" if form is not None and form.strictly_convex else "lower is not h(Ax) + <q, x> with a strictly convex h"


def vertices_pay(domain: Domain) -> bool:
    """Whether going by vertices can pay: for polytopes that know theirs, but for boxes, whose rows are none at all."""
    return domain.polytope and (domain.rows is None or domain.rows.A.shape[0] > 0)


def why_unsupported(objective: Objective) -> str:
    """Empty if the objective has the form h(Fx) + <p, x> with a known h'', else why not."""
    form = objective.form
    if form is None or form.norms or form.pieces:
        names = [] if form is None else [type(norm).__name__ for norm in form.norms] + [p.title for p in form.pieces]
        unknown = objective.formless if form is None else names[0]
        return f"second derivatives of {unknown} are not known"
    if coupled := [term.loss.name for term in form.losses if not term.loss.separable]:
        return f"the second derivatives of {coupled[0]} are not diagonal"
    if not form.matrices:
        return "the columns of a LinearOperator are not at hand; give the matrix itself"
    large = [bend.Q.shape[0] for bend in form.bends if bend.Q.shape[0] > DENSE_ROOT and not is_diagonal(bend.Q)]
    return f"factorising Q takes too long for {large[0]} variables" if large else ""


def is_diagonal(Q: Matrix) -> bool:
    return hasattr(Q, "tocsc") and abs(Q - sparse.diags_array(Q.diagonal())).max() == 0
