"""What the engine for sets by cones takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from ...objectives.base import Objective
from ...sets.base import Domain

MOST_SIZE = 1000
"""Variables and rows at most: everything is dense."""


def conic_applies(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where ``solve_conic`` applies, else the reason why not."""
    rows = domain.conic
    if rows is None:
        return f"{domain!r} is not a set by cones"
    if not all(cone.chains for cone, _ in rows.blocks):
        return f"{domain!r} has power cones, whose faces are not known here"
    if sum(rows.A.shape) > MOST_SIZE:
        return f"{domain!r} has more than {MOST_SIZE} variables and rows"
    for k, level in enumerate(levels):
        name = f"level {k + 1}"
        if level.form is None:
            return f"{name}: {level.formless} has no form that exact methods know"
        if not level.form.convex or not level.form.quadratic or not level.form.matrices:
            return f"{name} is not a convex quadratic function by matrices"
        if level.form.norms or level.form.pieces:
            return f"{name}: it is not smooth"
        if not level.form.strictly_convex:
            return f"{name} is not h(Ax) + <q, x> with a strictly convex h"
    return ""
