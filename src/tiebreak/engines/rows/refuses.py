"""What the engine by rows takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...numerics.extended import dense, is_sparse
from ...objectives.base import Objective
from ...objectives.form import Form
from ...sets.base import Domain

LEAST = 1e-140
"""Data may be no smaller, nor larger than its inverse."""


def rows_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where ``solve_rows`` takes them, else the reason why not."""
    return why_no_rows(levels, domain, why_not_quadratic)


def why_no_rows(levels: Sequence[Objective], domain: Domain, why_not: Callable[[Objective], str]) -> str:
    """Empty where the domain has rows and every level can be one, else the reason why not."""
    dims = {level.dim for level in levels if level.dim}
    rows = domain.with_dim(dims.pop()).rows if domain.dim is None and len(dims) == 1 else domain.rows
    if rows is None or rows.limits_sizes:
        return f"{domain!r} is not a polyhedron whose rows are known"
    for k, objective in enumerate(levels):
        if why := why_not(objective):
            return f"level {k}: {why}"
    return ""


def why_not_quadratic(objective: Objective) -> str:
    """Empty where ``Level`` can hold the objective; else the reason."""
    form = objective.form
    if form is None:
        return f"{objective.formless} is neither linear nor quadratic"
    others = [term.loss.name for term in form.losses if not term.loss.quadratic]
    others += [type(norm).__name__ for norm in form.norms] + [piece.title for piece in form.pieces]
    if others:
        return f"{others[0]} is neither linear nor quadratic"
    if not form.matrices:
        return "its least squares hold a LinearOperator, not a matrix"
    return why_not_in_range(form) if form.convex else "its quadratic is not convex"


def why_not_in_range(form: Form) -> str:
    """Squares of the data must be numbers."""
    given: list[tuple[str, Any]] = []
    for loss, data, _ in form.losses:
        given += [("matrix", None if data is None else data.raw)]
        given += [(name, getattr(loss, name, None)) for name in ("target", "weights")]
    given += [("Q", bend.Q) for bend in form.bends] + [("linear term", slope.c) for slope in form.linear]
    for name, values in (*given, ("constant", form.constant)):
        if values is None or 0 in (values := values if is_sparse(values) else np.asarray(values)).shape:
            continue
        sizes = dense(abs(values).max(axis=0)).ravel() if is_sparse(values) else np.abs(values).max(axis=0)
        sizes = sizes[sizes > 0]
        if sizes.size and not LEAST <= sizes.min() <= sizes.max() <= 1 / LEAST:
            kind = "columns" if np.ndim(values) == 2 else "entries"
            return (
                f"its {name} has {kind} of size {sizes.min():.0e} to {sizes.max():.0e}, whose squares are no numbers: "
                "choose other units"
            )
    return ""
