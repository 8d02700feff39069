"""A problem in rational numbers: its data as stored, absolute values and pieces as further variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from ..objectives.base import Objective
from ..objectives.form import Form, Term
from ..problem import Problem
from ..sets.rows import ByRows

Sparse = dict[int, Fraction]

ROUNDED = 2.0**-50
"""A bound that is nearer than this, relatively, to one that a row implies is that one, rounded."""


class NotProved(RuntimeError):
    """There is no rational proof, for the reason given.

    Examples
    --------
    >>> import tiebreak as tb
    >>> ball = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.L2Ball(1.0))
    >>> try:
    ...     tb.solve(ball).prove(ball)
    ... except tb.NotProved as error:
    ...     print(error)
    L2Ball(1) is not a polyhedron whose rows are known
    """


@dataclass
class Row:
    """low <= <a, x> <= high; None where there is no such end."""

    a: Sparse
    low: Fraction | None
    high: Fraction | None


@dataclass
class ExactLevel:
    """1/2 sum of w (<a, x> - t)^2 + 1/2 <x, Q x> + <c, x> + constant; squares are triples (w, a, t)."""

    squares: list[tuple[Fraction, Sparse, Fraction]] = field(default_factory=list)
    Q: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    c: Sparse = field(default_factory=dict)
    constant: Fraction = Fraction(0)


@dataclass
class ExactChain:
    """Levels over rows; of the variables the first ``own`` are those of the problem."""

    own: int
    size: int
    rows: list[Row]
    levels: list[ExactLevel]
    start: list[Fraction]


def exact(value: Any) -> Fraction:
    """A stored number, of whatever precision."""
    return Fraction(*value.as_integer_ratio())


def exact_chain(problem: Problem, x: Vector) -> ExactChain:
    """The problem as stored, and a point to begin from."""
    if any(problem.slacks) or any((*problem.relative_slack_before, problem.relative_slack)):
        raise NotProved("levels with slack have no rational proof: their optimal values need not be rational")
    Z = problem.domain.rows
    if Z is None:
        raise NotProved(f"{problem.domain!r} is not a polyhedron whose rows are known")
    dim = problem.dim
    if x.shape != (dim,) or not np.isfinite(x).all():
        raise NotProved("the point of the result is not one of this problem")
    chain = ExactChain(dim, dim, [], [], [exact(value) for value in x])
    above = _rows_of_the_set(chain, Z)
    for level in problem.levels:
        chain.levels.append(_level(chain, above, level))
    return chain


def _rows_of_the_set(chain: ExactChain, Z: ByRows) -> dict[int, int]:
    """The rows and bounds of the set; where its rows mention |x_i|, the position of a variable t >= |x_i|."""
    above: dict[int, int] = {}
    for i in map(int, Z.absolute):
        _absolute_value(chain, above, i)
    sizes = [{}] * Z.A.shape[0] if Z.B is None else _sparse_rows(Z.B)
    implied: dict[int, Fraction] = {}
    for a, b, low, high in zip(_sparse_rows(Z.A), sizes, Z.low, Z.high, strict=True):
        _add_row(chain, {**a, **{above[i]: value for i, value in b.items()}}, low, high)
        if not a:
            implied |= {i: exact(high) / value for i, value in b.items() if value > 0}
    for i, (low, high) in enumerate(zip(Z.lower, Z.upper, strict=True)):
        near = implied.get(i)
        if near is not None and abs(exact(high) / near - 1) <= ROUNDED and low == -high:
            continue
        _add_row(chain, {i: Fraction(1)}, low, high)
    return above


def _add_row(chain: ExactChain, a: Sparse, low: float, high: float) -> None:
    if np.isfinite(low) or np.isfinite(high):
        ends = (exact(end) if np.isfinite(end) else None for end in (low, high))
        chain.rows.append(Row(a, *ends))


def _absolute_value(chain: ExactChain, above: dict[int, int], i: int) -> int:
    """The position of a variable that is at least |x_i|."""
    if i not in above:
        above[i] = _new_variable(chain, abs(chain.start[i]))
        for sign in (1, -1):
            chain.rows.append(Row({i: Fraction(sign), above[i]: Fraction(-1)}, None, Fraction(0)))
    return above[i]


def _new_variable(chain: ExactChain, start: Fraction) -> int:
    chain.start.append(start)
    chain.size += 1
    return chain.size - 1


def _level(chain: ExactChain, above: dict[int, int], objective: Objective) -> ExactLevel:
    form = objective.form
    why = _why_not(objective, form)
    if why or form is None:
        raise NotProved(why)
    level = ExactLevel(constant=exact(form.constant))
    for term in form.losses:
        level.squares += _squares(term, chain.own)
    for bend in form.bends:
        for i, row in enumerate(_sparse_rows(bend.Q)):
            for j, value in row.items():
                for place in ((i, j), (j, i)):
                    level.Q[place] = level.Q.get(place, Fraction(0)) + exact(bend.scale) * value / 2
    for c, scale in form.linear:
        _add(level.c, ((int(j), exact(scale) * exact(c[j])) for j in np.flatnonzero(c)))
    for norm in form.norms:
        weights = np.broadcast_to(norm.weights, (chain.own,))
        used = map(int, np.flatnonzero(weights))
        _add(level.c, ((_absolute_value(chain, above, i), exact(weights[i])) for i in used))
    for piece in form.pieces:
        _add_piece(chain, level, piece)
    return level


def _why_not(objective: Objective, form: Form | None) -> str:
    if form is None:
        return f"{objective.formless} is neither linear nor quadratic"
    others = [term.loss.name for term in form.losses if not term.loss.quadratic]
    others += [type(norm).__name__ for norm in form.norms if norm.groups is not None]
    if others:
        return f"{others[0]} is neither linear, quadratic nor piecewise linear: its optimal value need not be rational"
    if not form.matrices or any(piece.data.kind == "operator" for piece in form.pieces):
        return "a LinearOperator has no entries that a proof could be about"
    return ""


def _squares(term: Term, dim: int) -> list[tuple[Fraction, Sparse, Fraction]]:
    loss, data, scale = term
    rows = [{j: Fraction(1)} for j in range(dim)] if data is None else _sparse_rows(data.raw)
    target: Any = np.zeros(len(rows)) if loss.target is None else loss.target
    weights: Any = np.ones(len(rows)) if loss.weights is None else loss.weights
    both = zip(rows, target, weights, strict=True)
    return [(exact(scale) * exact(w), a, exact(t)) for a, t, w in both if w > 0]


def _add_piece(chain: ExactChain, level: ExactLevel, piece: Any) -> None:
    """factor * <costs, t> with S (A x - b) <= T t; t begins at what these rows ask for."""
    S, T, costs = piece.epigraph
    data, b = _sparse_rows(piece.A), [exact(value) for value in piece.b]
    new = [_new_variable(chain, Fraction(0)) for _ in costs]
    least: dict[int, Fraction] = {}
    for s, t in zip(_sparse_rows(S), _sparse_rows(T), strict=True):
        ((i, sign),) = s.items()
        row = {j: sign * value for j, value in data[i].items()}
        residual = sum((value * chain.start[j] for j, value in row.items()), -sign * b[i])
        for j, value in t.items():
            row[new[j]] = -value
            least[j] = max(least.get(j, residual / value), residual / value)
        chain.rows.append(Row(row, None, sign * b[i]))
    for j, start in least.items():
        chain.start[new[j]] = start
    _add(level.c, ((new[j], exact(piece.factor) * exact(cost)) for j, cost in enumerate(costs)))


def _add(total: Sparse, entries: Iterable[tuple[int, Fraction]]) -> None:
    for j, value in entries:
        total[j] = total.get(j, Fraction(0)) + value


def _sparse_rows(A: Any) -> Sequence[Sparse]:
    if hasattr(A, "tocsr"):
        C: Any = sp.csr_array(A, copy=True)  # the user's own stays as it is
        C.sum_duplicates()
        parts = zip(C.indptr[:-1], C.indptr[1:], strict=True)
        found = [zip(C.indices[start:end], C.data[start:end], strict=True) for start, end in parts]
        return [{int(j): exact(value) for j, value in row if value} for row in found]
    return [{int(j): exact(row[j]) for j in np.flatnonzero(row)} for row in np.asarray(A)]
