"""Derivatives in the data, added up: of the levels, of the set, and of the optima that slack counts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Vector
from ..objectives.base import Objective
from ..objectives.pull_back import Held, Refused, bent_at, part_name, pulled_back, values_pulled
from .chain import Chain, Step
from .constraints import dense
from .slack import Kept, Optimum, Stages

RIGID = (
    "level {k} leaves a choice at x that later levels decide: another {what} would decide it first, and x would jump"
)
FRAGILE = "the maps of level {k}, or of a level after it, have a rank that another A may change, and x would jump"
TURNED = "level {k} leaves a choice at x on a face that these rows hold: others would turn it, and x would jump"
DEPENDENT = "active constraints depend on each other: others may have no point in common"
SEVERAL = "level {k}, whose optimum its slack counts from, has several minimisers: the optimum has a kink there"


class Found:
    """Derivatives by level and of the domain; ``levels`` and ``domain`` are mappings from names to values."""

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.levels: list[dict[str, Any]] = [{} for _ in stages.problem.levels]
        self.domain: dict[str, Any] = {}
        for k, (slack, _) in stages.slacks.items():
            self.levels[k]["slack" if slack else "relative_slack"] = np.float64(0.0)
            self._add(k, _nothing(stages.problem.levels[k], stages.problem.dim))

    def add_answer(self, chain: Chain, v: Vector) -> None:
        """The derivatives of <v, X> of a chain."""
        ends, directions = chain.adjoint(v)
        active = chain.active
        for j, (k, step) in enumerate(zip(chain.numbers, chain.steps, strict=True)):
            level, u = self.stages.problem.levels[k], directions[j]
            later = [Held(active.T @ directions[i], _paid_for(chain, i, j)) for i in range(j + 1, len(chain.steps))]
            rigid = "" if step.by_columns else RIGID.format(k=k + 1, what="slope")
            fragile = "" if all(map(_stable, chain.steps[j:])) else FRAGILE.format(k=k + 1)
            self._add(k, pulled_back(level, step.bent, active.x, active.T @ u, later, rigid, fragile))
            self._add_costs(k, chain, u, -1.0, rigid)
        self._add_rows(chain, ends, directions)
        for one, place in zip(active.curved, chain.places, strict=True):
            own = ends[place]
            paid = [(step.prices[place], u) for step, u in zip(chain.steps, directions, strict=True)]
            if isinstance(one, Kept):
                self._add_limit(one, chain, float(own[0]), paid)
            else:
                for entries, value in one.named(own, one.shifted(active.X, own, paid)):
                    self.domain[entries.name][entries.index] += value
        for name, value in self.domain.items():
            if not isinstance(value, Refused) and value.ndim == 0:
                self.domain[name] = np.float64(value)

    def _add_limit(self, kept: Kept, chain: Chain, end: float, paid: list[tuple[Vector, Vector]]) -> None:
        """Of g(x) <= g* + slack: of g at x, of the slack, and of g*."""
        k, level, best, X = kept.number, kept.level, self.stages.optimum(kept.number), chain.active.X
        slack, _ = self.stages.slacks[k]
        self.levels[k]["slack" if slack else "relative_slack"] += end * (1.0 if slack else abs(best.value))
        u = sum((float(y[0]) * u for y, u in paid), np.zeros(X.size))
        assert level.form is not None
        x = kept.T @ X
        self._add(k, pulled_back(level, bent_at(level.form, x), x, kept.T @ u, [], "", ""))
        self._add_costs(k, chain, u, -1.0, "")
        self._add_value(k, chain, -end)
        self._add_optimum(k, best, end * best.share)

    def _add_optimum(self, k: int, best: Optimum, factor: float) -> None:
        """The derivatives of g* by all data, times a factor."""
        if not factor:
            return
        chain = best.chain
        several = "" if chain.unique else SEVERAL.format(k=k + 1)
        self._add_value(k, chain, factor, several)
        inner = Found(self.stages)
        inner.add_answer(chain, factor * best.slope)
        for j, own in enumerate(inner.levels):
            self._add(j, own if j < k else {})
        if several and "A" in inner.domain:
            inner.domain["A"] = Refused(several)
        for name, value in inner.domain.items():
            self.domain[name] = _sum(self.domain.get(name, 0.0), value)

    def _add_value(self, k: int, chain: Chain, factor: float, several: str = "") -> None:
        """Those of the value at x by the data of the level."""
        own = values_pulled(self.stages.problem.levels[k], chain.x)
        for name, one in own.items():  # what is the same at all minimisers stays
            kept = not several or name.split(".")[-1] in ("b", "scale")
            self._add(k, {name: factor * one if kept else Refused(several)})
        self._add_costs(k, chain, chain.active.X, factor, several)

    def _add(self, k: int, more: Mapping[str, Any]) -> None:
        for name, value in more.items():
            self.levels[k][name] = _sum(self.levels[k].get(name, 0.0), value)

    # -- rows --------------------------------------------------------------------------------------------------------

    def _add_rows(self, chain: Chain, ends: Vector, directions: list[Vector]) -> None:
        """Of the ends of the rows, of the matrix of the set, and of the data of pieces."""
        active, problem = chain.active, self.stages.problem
        for name, shape in active.data.items():
            self.domain.setdefault(name, np.zeros(shape))
        count = len(active.rows)
        pieces: dict[str, dict[int, float]] = {}
        for source, value in zip(active.sources, ends[:count], strict=True):
            if source.place is None:
                continue
            if source.place.name.startswith("piece "):
                pieces.setdefault(source.place.name, {})[source.place.index] = value
            else:
                self.domain[source.place.name] = _added(
                    self.domain[source.place.name], source.place.index, source.factor * value
                )
        turned = -np.outer(ends[:count], active.X)
        for step, u in zip(chain.steps, directions, strict=True):
            turned -= np.outer(step.prices[:count], u)
        self._add_matrix(chain, turned @ active.T.T)
        for k, i in active.pieces:
            self._add_piece(chain, k, i, problem.levels[k].pieces[i], ends, turned)

    def _add_matrix(self, chain: Chain, turned: Any) -> None:
        rows = self.stages.problem.domain.rows
        if rows is None or rows.B is not None or not rows.A.shape[0]:
            return
        places = [s.place for s in chain.active.sources]
        own = [i for i, p in enumerate(places) if p is not None and p.name in ("high", "low")]
        why = _turning(chain, own)
        found = np.zeros(rows.A.shape)
        for i in own:
            place = places[i]
            assert place is not None
            found[place.index] += turned[i] if place.name == "high" else -turned[i]
        self.domain["A"] = _sum(self.domain.get("A", 0.0), Refused(why) if why else found)

    def _add_piece(self, chain: Chain, k: int, i: int, piece: Any, ends: Vector, turned: Any) -> None:
        """By S A x - T t <= S b."""
        active, S = chain.active, dense(piece.epigraph.S)
        name = f"piece {k} {i}"
        own = [r for r, s in enumerate(active.sources) if s.place is not None and s.place.name == name]
        places = [active.sources[r].place.index for r in own]  # type: ignore[union-attr]
        why = _turning(chain, own)
        A = S[places].T @ (turned[own] @ active.T.T)
        found = {"A": Refused(why) if why else A, "b": S[places].T @ ends[own]}
        self._add(k, {_piece_name(self.stages.problem.levels[k], i, key): value for key, value in found.items()})

    def _add_costs(self, k: int, chain: Chain, along: Vector, factor: float, rigid: str) -> None:
        """Of the costs of norms and pieces, whose value is that of <costs, X>: the derivative by them is ``along``."""
        active, level = chain.active, self.stages.problem.levels[k]
        self._add(k, _weights(level, active.sizes @ along, factor, rigid))
        for (own, i), place in active.pieces.items():
            piece = level.pieces[i] if own == k else None
            if piece is None or piece.cost_data is None:
                continue
            why = rigid if piece.cost_data.all() else "a weight of zero becomes positive, and x may jump"
            value = Refused(why) if why else factor * float(piece.factor) * along[place]
            self._add(k, {_piece_name(level, i, "weights"): value})


def _turning(chain: Chain, own: list[int]) -> str:
    """Why these rows cannot change, but for their ends; empty where they can."""
    for k, step in zip(chain.numbers, chain.steps, strict=True):
        if not step.by_columns and step.straight and any(abs(step.prices[i]) > 0 for i in own):
            return TURNED.format(k=k + 1)
        if own and not (step.by_columns or step.by_rows):
            return FRAGILE.format(k=k + 1)
    held = chain.C
    return DEPENDENT if own and np.linalg.matrix_rank(held) < len(held) else ""


def _stable(step: Step) -> bool:
    """Whether a small change of maps leaves the rank, and linear parts where they are."""
    return step.by_columns or (step.by_rows and not step.straight)


def _paid_for(chain: Chain, k: int, j: int) -> Vector:
    """w_kj: what level k pays for the maps of level j."""
    start = sum(len(one.own) for one in chain.steps[:j])
    return np.asarray(chain.steps[k].paid[start : start + chain.steps[j].maps])


def _weights(level: Objective, sizes: Vector, factor: float, rigid: str) -> dict[str, Any]:
    """Of the weights of l1 norms, whose gradient is that of <weights, |x|>."""
    found: dict[str, Any] = {}
    for i, (_, part) in enumerate(level.parts):
        if part.norms:
            own = factor * sizes
            value = own if np.ndim(part.norms[0].weights) else np.float64(own.sum())
            found[part_name(level.parts, i, "weights")] = Refused(rigid) if rigid else value
    return found


def _piece_name(level: Objective, i: int, name: str) -> str:
    number = [j for j, (_, part) in enumerate(level.parts) if part.pieces][i]
    return part_name(level.parts, number, name)


def _nothing(level: Objective, dim: int) -> dict[str, Any]:
    """Zeros for all data of a level: a slack that is not used up has no say."""
    found = values_pulled(level, np.zeros(dim)) | _weights(level, np.zeros(dim), 0.0, "")
    for i, piece in enumerate(level.pieces):
        own = {"A": np.zeros(piece.data.shape), "b": np.zeros(piece.b.size)}
        if piece.cost_data is not None:
            own["weights"] = np.zeros(piece.b.size)
        found |= {_piece_name(level, i, name): value for name, value in own.items()}
    return {name: 0.0 * value for name, value in found.items()}


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, Refused):
        return one
    return other if isinstance(other, Refused) else one + other


def _added(total: Any, index: Any, value: float) -> Any:
    total[index] += value
    return total
