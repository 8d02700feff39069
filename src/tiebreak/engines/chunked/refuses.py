"""What the engine for data in chunks takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...objectives.base import Objective
from ...sets.base import Domain

WIDEST = 2000  # columns: triangles are moved between workers, and solved on this machine


def chunks_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where the engine takes the problem, else why not."""
    if len(levels) != 2:
        return f"with data in chunks it takes two levels, not {len(levels)}"
    if not domain.bounded or "lmo" not in domain.oracles:
        return f"with data in chunks it takes bounded sets, and {domain!r} is not known to be one: add a generous Box"
    if domain.rows is None:
        return f"with data in chunks it takes sets that are known by rows, and {domain!r} is none"
    dim = domain.dim or 0
    if dim > WIDEST:
        return f"with data in chunks it takes up to {WIDEST} variables, not {dim}"
    for name, level in zip(("lower", "upper"), levels, strict=True):
        if why := _level_refused(level, whole=name == "lower"):
            return f"{name}: {why}"
    return ""


def _level_refused(level: Objective, whole: bool) -> str:
    """Why a level is not one of the kind; a ``whole`` one must consist of losses of rows alone."""
    if level.norms or level.pieces:
        return "with data in chunks, norms and pieces are left to first-order methods"
    for _, part in level.parts:
        if part.chunked is not None:
            loss = part.chunked.recipe.link(np.ones(1))
            if not (getattr(loss, "strictly_convex", False) and np.isfinite(getattr(loss, "self_concordance", np.inf))):
                return f"{part.chunked.name} in chunks is flat or bent in places, and left to first-order methods"
        elif part.form is None or not part.convex:
            return f"{type(part).__name__} beside data in chunks has no form that is known"
        elif whole and (part.form.bends or part.form.slopes or not part.form.matrices):
            return "beside data in chunks a lower level consists of losses of matrices"
        elif whole and not (
            part.form.strictly_convex and all(np.isfinite(t.loss.self_concordance) for t in part.form.losses)
        ):
            return "a lower level beside data in chunks must be strictly convex in its predictions"
    return ""
