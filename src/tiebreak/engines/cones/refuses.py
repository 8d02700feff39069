"""What the engine for round sets takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from ...objectives.base import Objective
from ...objectives.losses.base import Loss
from ...sets.base import Domain

MOST_WORK = 3e9
"""Multiplications for one step of the interior-point method at most."""

MOST_VARIABLES = 1500


def cones_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where ``solve_cones`` applies, else the reason why not."""
    if len(levels) > 2:
        return f"it takes two levels, not {len(levels)}"
    shape = domain.round
    if shape is None:
        return f"{domain!r} is not a ball or a spectrahedron"
    if is_large(domain) and not (shape.sphere and all(_plain(level) for level in levels)):
        return f"{domain!r} is too large for dense factorisations"
    lower, upper = levels[0], levels[-1]
    for name, level in (("lower", lower), ("upper", upper)):
        if level.form is None:
            return f"{name}: {level.formless} has no form that exact methods know"
        if not level.form.convex:
            return f"{name} is not convex"
        if not level.form.matrices:
            return f"{name}: a LinearOperator has no entries"
        if any(norm.groups is not None for norm in level.form.norms):
            return f"{name}: norms of groups are neither smooth nor piecewise linear"
    if lower.form is not None and not all(_strict_or_flat(term.loss) for term in lower.form.losses):
        return "lower is not h(Ax) + <q, x> with an h that is strictly convex or quadratic in pieces"
    return ""


def is_large(domain: Domain) -> bool:
    """Whether a round set has too many variables for dense factorisations."""
    assert domain.round is not None and domain.dim is not None
    return domain.round.work > MOST_WORK or domain.dim > MOST_VARIABLES


def _plain(level: Objective) -> bool:
    """Whether a level is quadratic, and nothing else."""
    form = level.form
    return form is not None and form.quadratic and not form.norms and not form.pieces


def _strict_or_flat(loss: Loss) -> bool:
    """Whether equal slopes have equal predictions, or the loss is linear wherever they have not, and says where."""
    return loss.strictly_convex or (loss.separable and loss.self_concordance == 0)
