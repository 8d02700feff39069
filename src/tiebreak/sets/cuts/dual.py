"""The cut oracle and the cut projection of a set that is known through its plain oracles."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, as_scalar
from ...usercode import OracleError
from ..base import Cut, Domain
from .crossing import SHORTFALL, Crossing, Vertex, cross

FARTHEST = 1e12
"""Where the least value of a cut over the set is not known, it is looked for no farther than this, relative."""


def sparse_cut(dim: int, crossing: Crossing) -> Cut:
    """The answer where the points of ``crossing`` are pairs of positions and entries, numbers or arrays."""
    weight, low, high, multiplier, gap, status = crossing
    point = np.zeros(dim)
    for share, vertex in ((weight, low), (1.0 - weight, high)):
        if share > 0:
            index, value = vertex.point
            point[index] += share * value
    return Cut(point, multiplier, gap, status)


def checked(domain: Domain, a: Vector, c: Vector, b: float) -> tuple[Vector, Vector, float]:
    """The arguments of ``lmo_cut``: two finite vectors of one length and a number, or a clear error."""
    if not (_is_sound(a) and _is_sound(c) and a.size == c.size and domain.dim in (None, a.size)):
        a, c = domain._check(a, "a"), domain._check(c, "c")
        if a.size != c.size:
            raise ValueError(f"c has length {c.size}, but a has length {a.size}")
    return a, c, b if isinstance(b, float) and isfinite(b) else as_scalar(b, "b")


def _is_sound(v: Vector) -> bool:
    """Whether v needs no further check: a quick test, as the full one takes as long as the oracle."""
    plain = type(v) is np.ndarray and v.dtype == np.float64 and v.ndim == 1 and v.size > 0
    return plain and isfinite(v.dot(v))


def cut_by_dual(domain: Domain, a: Vector, c: Vector, b: float, warm: float = 0.0, tol: float = 1e-12) -> Cut:
    """``domain.lmo_cut(a, c, b)`` through ``domain.lmo`` alone.

    Parameters
    ----------
    domain : Domain
        The set Z; only its ``lmo`` is called.
    a, c : array
        Minimise <a, s> subject to <c, s> <= b.
    b : float
        The right-hand side.
    warm : float
        A guess of the multiplier; a good one saves a call or two, a bad one costs one.
    tol : float
        Stop once the certified gap is below ``tol`` times the size of the terms of <a + lam c, s>.

    Returns
    -------
    Cut
        The minimiser, as a mix of at most two points that ``lmo`` has given.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.l1 import L1Ball
    >>> cut = cut_by_dual(L1Ball(1.0), np.array([-2.0, -1.0]), np.array([1.0, 0.0]), 0.25)
    >>> cut.point, cut.multiplier, str(cut.status)
    (array([0.25, 0.75]), 1.0, 'active')
    """
    a, c, b = checked(domain, a, c, b)
    abs_a, abs_c = np.abs(a), np.abs(c)
    max_a, max_c = float(abs_a.max()), float(abs_c.max())

    def oracle(lam: float, level: float) -> Vertex:
        # Scaled to at most one, as an oracle with absolute tolerances inside may need.
        scale = 1.0 / ((max_c if lam == inf else max_a + lam * max_c) or 1.0)
        s = domain.lmo(scale * c if lam == inf else scale * a + (scale * lam) * c)
        size = np.abs(s)
        return Vertex(lam, float(a @ s), float(c @ s), float(abs_a @ size), float(abs_c @ size), s)

    crossing = cross(oracle, b, warm, tol)
    point = sum(weight * s for weight, s in crossing.mix())
    return Cut(point, crossing.multiplier, crossing.gap, crossing.status)


def require_meeting(domain: Domain, c: Vector, b: float) -> float:
    """The minimum of <c, .> over the set, or an error where that is above b by more than rounding."""
    s = domain.lmo(c)
    least, size = float(c @ s), float(np.abs(c) @ np.abs(s)) + abs(b)
    if least > b + SHORTFALL * size:
        raise ValueError(
            f"the cut <c, s> <= b does not meet the set: b = {b:.6g}, but min <c, s> = {least:.6g}; raise b"
        )
    return least


def project_by_dual(domain: Domain, x: Vector, c: Vector, b: float) -> Vector:
    """The point of Z and {<c, s> <= b} nearest to x, through ``domain.project`` and ``domain.lmo``.

    It is P(x - mu c) for the projection P onto Z and some mu >= 0, and <c, P(x - mu c)> is continuous and
    does not increase in mu: a bracket and Brent's method find it.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.simplex import Simplex
    >>> project_by_dual(Simplex(), np.array([1.0, 0.0]), np.array([1.0, 0.0]), 0.25)
    array([0.25, 0.75])
    """
    x, c, b = checked(domain, x, c, b)
    point = domain.project(x)
    excess = float(c @ point) - b
    if excess <= 0:
        return point
    least = require_meeting(domain, c, b) if "lmo" in domain.oracles else -inf
    norm = float(np.linalg.norm(c))
    unit, level = c / norm, max(b, least) / norm

    def violation(mu: float) -> float:
        return float(unit @ domain.project(x - mu * unit)) - level

    low, high, above = 0.0, 2 * excess / norm, excess / norm  # the violation falls at a rate of at most one
    size = float(np.linalg.norm(x)) + abs(level)
    while (now := violation(high)) > 0:
        if now <= 4 * UNIT_ROUNDOFF * (size + high):  # zero up to rounding
            return domain.project(x - high * unit)
        if now > above + 1e-6 * (size + high):
            raise OracleError(
                f"project is no projection onto a convex set: moving its argument by {high - low:.3g} against c moves"
                f" its answer by {now - above:.3g} along c; check project"
            )
        if least == -inf and high > FARTHEST * size:
            raise ValueError(f"the cut <c, s> <= b does not meet the set near x: b = {b:.6g}; raise b")
        low, high, above = high, 4 * high, now
    mu = falling_root(violation, low, high, above, UNIT_ROUNDOFF * high)
    return domain.project(x - mu * unit)


def falling_root(function: Callable[[float], float], low: float, high: float, above: float, xtol: float) -> float:
    """Where a continuous function that is positive at ``low``, with the value ``above``, and not at ``high`` is zero.

    Brent's method, with the sign at the ends as they were found: a function that answers with noise may have another
    one when it is asked again. After 500 steps it is what is known then.
    """
    from scipy.optimize import brentq

    ends = {low: above, high: min(function(high), 0.0)}
    remembered = lambda t: ends[t] if t in ends else function(t)  # noqa: E731
    if not np.isfinite(sum(ends.values())):
        raise FloatingPointError("the function whose zero is wanted has no finite values")
    return float(
        brentq(
            remembered,
            low,
            high,
            xtol=max(xtol, np.finfo(float).smallest_subnormal),
            rtol=8 * UNIT_ROUNDOFF,
            maxiter=500,
            disp=False,
        )
    )
