"""Norms over a set: the prox of norms and Z together, linear minima with norms, and what is needed for either.

Three facts carry all of it. Each of them is about Z, which says itself whether it is true of it (``signs``,
``shrinks``, ``shrinks_groups``), so that nothing is ever composed that does not compose.

* Where all points of Z have one sign in a coordinate, w |x_i| is linear there.
* Let x stay in Z when an entry moves towards zero or changes its sign. Then the prox of an l1 norm over Z is the
  projection of the soft threshold: its signs are those of v, and its sizes are the projection of |v| - w onto the
  nonnegative points of Z, where negative entries end at zero whatever the others do. In a box the entries do not meet,
  and the same is true of each. For group norms, read lengths of groups for sizes of entries; in a Euclidean ball
  around zero the prox of every norm is shrunk along its own ray, which leaves its subgradients as they are.
* A norm is the largest of its linear supports <y, .>, so a linear minimum with any of them in its place is a lower
  bound. For sets as above the support nearest to the negative slope gives the minimum itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector, same_groups
from .objectives.base import Objective
from .objectives.norms import Norm
from .problem import Problem
from .sets.base import Domain

Level = Literal["upper", "lower"]
How = Literal["joint prox", "prox", "subgradient", "lifted"]
"""How a norm enters a method: by its prox over Z, by its prox alone, by subgradients, or as linear rows."""

P = TypeVar("P", Objective, Domain)


def bare(part: P) -> P:
    """The objective or set itself, where a run counts its calls through a stand-in."""
    inner: P = getattr(part, "watched", part)
    return inner


def obstacles(problem: Problem, takes: Mapping[Level, How]) -> list[str]:
    """What a method that takes norms as ``takes`` says would need and the problem does not have."""
    found: list[str] = []
    joint: list[Norm] = []
    levels: tuple[Level, Level] = ("upper", "lower")
    for level in levels:
        norms, pieces = getattr(problem, level).norms, getattr(problem, level).pieces
        how = takes.get(level)
        if getattr(problem, level).differentiable:
            continue
        if how is None:
            titles = [*(type(norm).__name__ for norm in norms), *(piece.title for piece in pieces)]
            names = ", ".join(dict.fromkeys(titles)) or "it"
            found.append(f"a differentiable {level} level ({names} is not differentiable)")
        elif "prox" in how and any(part.lipschitz is not None for _, part in getattr(problem, level).parts):
            found.append(f"a prox of the {level} level (it is known by its subgradients)")
        elif pieces and "prox" in how:
            found.append(f"a prox of the {level} level ({pieces[0].title} has none in closed form)")
        elif how == "joint prox":
            joint += norms
        elif how == "prox" and (why := why_no_prox(None, norms)):
            found.append(f"a prox of the {level} level's norms ({why})")
    if joint and (why := why_no_prox(problem.domain, joint)):
        found.append(f"a prox of the norms together with the domain ({why})")
    return found


def why_no_prox(domain: Domain | None, norms: Sequence[Norm]) -> str:
    """Empty where ``joint_prox`` (without a domain: ``prox``) is exact, else the reason why it is not."""
    if not norms:
        return ""
    groups = [norm.groups for norm in norms if norm.groups is not None]
    if any(not same_groups(groups[0], other) for other in groups[1:]):
        return "group norms over different groups have no closed prox"
    if domain is None:
        return ""
    if not groups:
        return "" if domain.shrinks else f"that of L1Norm over {bare(domain)!r} has no closed form"
    if domain.shrinks_groups(groups[0]):
        return ""
    name = repr(bare(domain))
    return f"that of GroupNorm over {name} has no closed form; L2Ball and GroupBall with the same groups have one"


def prox(norms: Sequence[Norm], v: Vector, step: float = 1.0, known: Vector | None = None) -> Vector:
    """The minimiser of step * (sum of the norms) + 1/2 ||x - v||^2.

    L1 norms come first: soft thresholds add up, and shrinking groups afterwards is exact. Where signs are ``known``,
    the norm is linear.
    """
    for norm in sorted(norms, key=lambda norm: norm.groups is not None):
        shrunk = norm.prox(v, step)
        if known is not None and norm.groups is None:
            shrunk = np.where(known == 0, shrunk, v - step * norm.weights * known)
        v = shrunk
    return v


def joint_prox(domain: Domain, norms: Sequence[Norm], v: Vector, step: float = 1.0) -> Vector:
    """The minimiser over Z of step * (sum of the norms) + 1/2 ||x - v||^2, where ``why_no_prox`` has nothing to say.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.objectives import L1Norm
    >>> from tiebreak.sets import L1Ball
    >>> joint_prox(L1Ball(1.0), [L1Norm()], np.array([3.0, -1.5, 0.5]))
    array([ 1., -0.,  0.])
    """
    return domain.project(prox(norms, v, step, domain.signs(v.size)) if norms else v)


class LinearMinimum:
    """Lower bounds on the minimum over Z of <c, s> plus multiples of norms; what rounding may do to them is given away.

    Norms are replaced by linear supports, for which a plain linear minimisation is enough. Where that is not tight, and
    the set has rows, the l1 norms are kept, in a polyhedron with their absolute values as further variables.
    """

    def __init__(self, problem: Problem) -> None:
        self.domain, self.dim = problem.domain, problem.dim
        self._weighted = np.zeros(self.dim, dtype=bool)
        for norm in problem.upper.norms + problem.lower.norms:
            if norm.groups is None:
                self._weighted |= np.broadcast_to(norm.weights > 0, (self.dim,))

    @cached_property
    def _signs(self) -> Vector:
        return self.domain.signs(self.dim)

    @cached_property
    def _absolute(self) -> Domain | None:
        """The polyhedron of signed parts of s, where Z has rows for it and some absolute values are needed."""
        Z = self.domain
        if not self._lifted.size or Z.shrinks or Z.rows is None or Z.rows.limits_sizes:
            return None
        from .sets.epigraph import signed_parts

        return signed_parts(Z, self._lifted)

    @cached_property
    def _lifted(self) -> np.ndarray:
        return np.flatnonzero(self._weighted & (self._signs == 0))

    def below(self, c: Vector, error: float, parts: Sequence[tuple[float, Norm]] = ()) -> float:
        """At most the minimum of <c', s> + sum of factor * norm(s) over Z, for every c' within ``error`` of c."""
        domain, prices = self.domain, np.zeros(self._lifted.size if parts else 0)
        for factor, norm in sorted(parts, key=lambda part: part[1].groups is not None):
            if factor == 0:
                continue
            y, alone = factor * norm.support(c / factor), norm.groups is None
            if alone:
                linear = factor * norm.weights * self._signs
                y = np.where(self._signs == 0, y, linear)
                if self._absolute is not None:
                    prices = prices + factor * np.broadcast_to(norm.weights, c.shape)[self._lifted]
                    y[self._lifted] = 0.0
            error += (8 if alone else c.size + 16) * UNIT_ROUNDOFF * float(np.linalg.norm(c) + np.linalg.norm(y))
            c = c + y
        if prices.any():
            assert self._absolute is not None
            error += 8 * UNIT_ROUNDOFF * float(np.linalg.norm(c) + np.linalg.norm(prices))
            domain, c = self._absolute, np.append(c, prices - c[self._lifted])
            c[self._lifted] += prices
        s = domain.lmo(c)
        reach = float(np.linalg.norm(s)) + domain.diameter  # no point of Z is farther from the origin
        return domain.lmo_bound(c, s) - (error * reach if error > 0 else 0.0)
