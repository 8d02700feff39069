"""Norms over a set: the prox of norms and Z together, linear minima with norms, and what is needed for either.

Three facts carry all of it. Each of them is about Z, so that nothing is ever composed that does not compose.

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

from .arrays import UNIT_ROUNDOFF, Vector
from .objectives.base import Objective
from .objectives.norms import GroupNorm, L1Norm, Norm
from .problem import Problem
from .sets import Birkhoff, Box, Columns, GroupBall, KSparse, L1Ball, L2Ball, LpBall, Polyhedron, Product, Simplex
from .sets.base import Domain
from .sets.epigraph import absolute_values

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
        norms = getattr(problem, level).norms
        how = takes.get(level)
        if getattr(problem, level).differentiable:
            continue
        if how is None:
            names = ", ".join(dict.fromkeys(type(norm).__name__ for norm in norms)) or "it"
            found.append(f"a differentiable {level} level ({names} is not differentiable)")
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
    groups = [norm for norm in norms if isinstance(norm, GroupNorm)]
    if any(not norm.same_groups(groups[0].labels) for norm in groups):
        return "group norms over different groups have no closed prox"
    if domain is None:
        return ""
    Z = bare(domain)
    if not groups:
        return "" if _shrinks(Z) else f"that of L1Norm over {Z!r} has no closed form"
    radial = isinstance(Z, L2Ball) and not np.any(Z.center)
    if radial or (isinstance(Z, GroupBall) and groups[0].same_groups(Z._labels)):
        return ""
    return f"that of GroupNorm over {Z!r} has no closed form; L2Ball and GroupBall with the same groups have one"


def _shrinks(domain: Domain) -> bool:
    """Whether the prox of every l1 norm over the set is the projection of the soft threshold."""
    if isinstance(domain, (Box, L1Ball, LpBall, KSparse, GroupBall)):
        return True
    if isinstance(domain, L2Ball):
        return not np.any(domain.center)
    if isinstance(domain, Product):
        return all(_shrinks(block) for block in domain._domains.values())
    if isinstance(domain, Columns):
        return _shrinks(domain.each)
    return domain.dim is not None and bool(signs(domain, domain.dim).all())


def signs(domain: Domain, dim: int) -> Vector:
    """The sign that all points of the set have in each coordinate; 0 where there is none, or none is known."""
    Z = bare(domain)
    if isinstance(Z, (Simplex, Birkhoff)):
        return np.ones(dim)
    if isinstance(Z, (Box, Polyhedron)):
        lower, upper = (Z.lower, Z.upper) if isinstance(Z, Box) else (Z._given.lower, Z._given.upper)
        return np.broadcast_to(np.where(lower >= 0, 1.0, np.where(upper <= 0, -1.0, 0.0)), (dim,))
    if isinstance(Z, Product):
        return np.concatenate([signs(block, block.dim or 0) for block in Z._domains.values()])
    if isinstance(Z, Columns):
        return np.repeat(signs(Z.each, Z.shape[0]), Z.shape[1])
    return np.zeros(dim)


def prox(norms: Sequence[Norm], v: Vector, step: float = 1.0, known: Vector | None = None) -> Vector:
    """The minimiser of step * (sum of the norms) + 1/2 ||x - v||^2.

    L1 norms come first: soft thresholds add up, and shrinking groups afterwards is exact. Where signs are ``known``,
    the norm is linear.
    """
    for norm in sorted(norms, key=lambda norm: isinstance(norm, GroupNorm)):
        shrunk = norm.prox(v, step)
        v = shrunk if known is None or isinstance(norm, GroupNorm) else _tilted(norm, v, step, known, shrunk)
    return v


def _tilted(norm: Norm, v: Vector, step: float, known: Vector, shrunk: Vector) -> Vector:
    assert isinstance(norm, L1Norm)
    return np.where(known == 0, shrunk, v - step * norm.weights * known)


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
    return domain.project(prox(norms, v, step, signs(domain, v.size)) if norms else v)


class LinearMinimum:
    """Lower bounds on the minimum over Z of <c, s> plus multiples of norms; what rounding may do to them is given away.

    Norms are replaced by linear supports, for which a plain linear minimisation is enough. Over polyhedra in which
    signs are not known, the l1 norms are kept, in a polyhedron with their absolute values as further variables.
    """

    def __init__(self, problem: Problem) -> None:
        self.domain, self.dim = problem.domain, problem.dim
        self._weighted = np.zeros(self.dim, dtype=bool)
        for norm in problem.upper.norms + problem.lower.norms:
            if isinstance(norm, L1Norm):
                self._weighted |= np.broadcast_to(norm.weights > 0, (self.dim,))

    @cached_property
    def _signs(self) -> Vector:
        return signs(self.domain, self.dim)

    @cached_property
    def _absolute(self) -> Domain | None:
        """The polyhedron of (s, |s_i| for the i that need it), where Z is a polyhedron and there are such i."""
        Z = bare(self.domain)
        return absolute_values(Z, self._lifted) if isinstance(Z, Polyhedron) and self._lifted.size else None

    @cached_property
    def _lifted(self) -> np.ndarray:
        return np.flatnonzero(self._weighted & (self._signs == 0))

    def below(self, c: Vector, error: float, parts: Sequence[tuple[float, Norm]] = ()) -> float:
        """At most the minimum of <c', s> + sum of factor * norm(s) over Z, for every c' within ``error`` of c."""
        domain, prices = self.domain, np.zeros(self._lifted.size if parts else 0)
        for factor, norm in sorted(parts, key=lambda part: isinstance(part[1], GroupNorm)):
            if factor == 0:
                continue
            y = factor * norm.support(c / factor)
            if isinstance(norm, L1Norm):
                linear = factor * norm.weights * self._signs
                y = np.where(self._signs == 0, y, linear)
                if self._absolute is not None:
                    prices = prices + factor * np.broadcast_to(norm.weights, c.shape)[self._lifted]
                    y[self._lifted] = 0.0
            units = 8 if isinstance(norm, L1Norm) else c.size + 16
            error += units * UNIT_ROUNDOFF * float(np.linalg.norm(c) + np.linalg.norm(y))
            c = c + y
        if prices.any():
            assert self._absolute is not None
            error += 8 * UNIT_ROUNDOFF * float(np.linalg.norm(prices))
            domain, c = self._absolute, np.append(c, prices)
        s = domain.lmo(c)
        reach = float(np.linalg.norm(s)) + domain.diameter  # no point of Z is farther from the origin
        return domain.lmo_bound(c, s) - (error * reach if error > 0 else 0.0)
