"""What the engine for data in chunks takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...objectives.base import Objective
from ...sets.base import Domain
from ..lifted import why_not_lifted

WIDEST_QUADRATIC = 400
"""Columns: beyond, the engine by rows takes longer than a pass."""
WIDEST = 2000  # columns: triangles are moved between workers, and solved on this machine


def chunks_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where the engine takes the problem, else why not."""
    if quadratic_in_chunks(levels, domain):
        beside = [part for level in levels for _, part in level.parts if part.chunked is None]
        return why_not_lifted(beside, domain, chain=True)
    return two_levels_apply(levels, domain)


def quadratic_in_chunks(levels: Sequence[Objective], domain: Domain) -> bool:
    """Whether all levels are linear or quadratic, in chunks or not, over rows: then brackets are two-sided."""
    for level in levels:
        for _, part in level.parts:
            if part.chunked is not None:
                if not part.chunked.quadratic:
                    return False
            elif part.form is None or not part.convex or not part.form.quadratic:
                return False
    return domain.rows is not None and (domain.dim or 0) <= WIDEST_QUADRATIC


def why_not_relaxed(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where the engine takes the problem with slack."""
    if quadratic_in_chunks(levels, domain):
        return ""
    return "with slack, levels in chunks that are not quadratic are left to first-order methods"


def two_levels_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """The same where brackets are one-sided."""
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
