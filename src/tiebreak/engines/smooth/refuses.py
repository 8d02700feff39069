"""What the engine for smooth losses takes, asked before it is loaded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix
from ...numerics.extended import dense, is_sparse
from ...numerics.rank import LARGEST, exact_rank
from ...objectives.base import Objective
from ...objectives.form import Term
from ...sets.base import Domain
from ..rows.refuses import why_no_rows, why_not_in_range

MOST_COLUMNS = 1000
"""Up to this many variables, further ones for absolute values included, Newton's method takes seconds."""
MOST_ENTRIES = 20_000_000


def smooth_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where ``solve_smooth_chain`` applies, else the reason why not."""
    if not levels[-1].convex:
        if why := why_not_constant(levels):
            return f"level {len(levels) - 1}: {why}"
        levels = levels[:-1]
    if why := why_no_rows(levels, domain, why_not_smooth):
        return why
    dim = domain.dim or next(level.dim for level in levels if level.dim)
    terms = [term for level in levels if level.form for term in level.form.losses if term.data is not None]
    if dim > MOST_COLUMNS:
        return f"second derivatives of losses are dense matrices here, and {dim} variables are too many for them"
    for term in terms:
        if _entries(term, dim) > MOST_ENTRIES:
            size = f"{_height(term)} x {dim}"
            return f"products of second derivatives with steps take long here, and {size} are too many for them"
    return ""


def _height(term: Term) -> int:
    """How many rows a loss has where its terms are apart."""
    rows = term.data.shape[0] if term.data is not None else 0
    return rows if term.loss.uncoupled is None else int(term.loss.uncoupled[0].shape[0])


def _entries(term: Term, dim: int) -> float:
    """Those of the data as they are taken; of sparse ones in so many columns, what products with steps cost as much."""
    assert term.data is not None
    data, height = term.data.raw, _height(term)
    if not is_sparse(data):
        return float(height) * dim
    from ..rows.level import DENSE

    if dim <= DENSE:
        return float(height) * dim
    rows = 1.0 if term.loss.uncoupled is None else 2 * height / data.shape[0]  # differences of two each
    return min(float(height) * dim, float(data.nnz) * rows * dim / DENSE)


def why_not_smooth(objective: Objective) -> str:
    """Empty where ``SmoothLevel`` can hold the objective; else the reason."""
    form = objective.form
    if form is None:
        return f"{objective.formless} has no form: neither quadratic nor a loss of linear maps"
    if form.norms:
        return f"{type(form.norms[0]).__name__} is not smooth"
    for term in form.losses:
        loss = term.loss
        if loss.quadratic:
            continue
        if loss.uncoupled is not None:
            loss = loss.uncoupled[1]
        elif not loss.separable:
            return f"{loss.name} couples its predictions"
        if not (loss.by_terms and np.isfinite(loss.self_concordance)):
            return f"{loss.name} says nothing of its third derivatives, or has none of its terms in extended precision"
    if not form.matrices:
        return "its data are a LinearOperator, not a matrix"
    return why_not_in_range(form) if form.convex else "its quadratic is not convex"


def why_not_constant(levels: Sequence[Objective]) -> str:
    """Empty where the last level is constant on the solutions of the others by its structure, else the reason."""
    given = levels[-1].predictions
    if given is None or given.data.kind == "operator":
        return "it is not convex, and not a function of linear maps"
    B, images = given.data.raw, []
    for level in levels[:-1]:
        for loss, data, _ in level.form.losses if level.form is not None else ():
            if loss.strictly_convex and data is None:
                return ""
            if loss.strictly_convex and data is not None and data.kind != "operator":
                if data.raw is B or _same(data.raw, B):
                    return ""
                images.append(data.raw)
    sizes = [M.shape[0] * M.shape[1] for M in (*images, B)]
    if images and sum(sizes) <= LARGEST:
        A = np.vstack([dense(M) for M in images])
        if exact_rank(np.vstack([A, dense(B)])) == exact_rank(A):
            return ""
    return "it is not convex, and not known to be the same at all solutions of the levels before"


def _same(A: Matrix, B: Matrix) -> bool:
    if A.shape != B.shape:
        return False
    if is_sparse(A) or is_sparse(B):
        return int(abs(sp.csr_array(A) - sp.csr_array(B)).count_nonzero()) == 0
    return bool(np.array_equal(A, B))
