"""Facts about the curvature of an objective that some theories ask for: strong convexity, Hessians of quadratics."""

from __future__ import annotations

import numpy as np

from ..arrays import Vector
from ..composite import bare
from ..objectives.algebra import Multiple, Sum
from ..objectives.base import Objective
from ..objectives.linear import Linear, SquaredNorm
from ..objectives.norms import Zero

SMALL = 500
"""The eigenvalues of a Hessian are worth computing up to this size."""


def strong_convexity(objective: Objective, dim: int) -> float:
    """A modulus of strong convexity; 0 where none is known.

    For a quadratic of up to ``SMALL`` variables it is the least eigenvalue of the Hessian, unless that is rounding.

    Examples
    --------
    >>> import tiebreak as tb
    >>> strong_convexity(tb.SquaredNorm() + tb.Huber([[1.0, 2.0]], [1.0], 0.5), 2)
    1.0
    """
    f = bare(objective)
    if simple := isotropic(f, dim):
        return simple[0]
    if f.quadratic and f.convex and dim <= SMALL:
        spectrum = np.linalg.eigvalsh(hessian(f, dim))
        return float(spectrum[0]) if spectrum[0] > 1e-12 * dim * spectrum[-1] else 0.0
    if isinstance(f, Multiple):
        return f.factor * strong_convexity(f.inner, dim)
    if isinstance(f, Sum) and f.convex:
        return sum(strong_convexity(term, dim) for term in f.terms)
    return 0.0


def isotropic(objective: Objective, dim: int) -> tuple[float, Vector] | None:
    """mu and c where the objective is mu/2 ||x||^2 - <c, x> up to a constant; None where it is not such a sum.

    Its prox, projected onto Z, is that of the objective over Z.
    """
    f = bare(objective)
    if isinstance(f, SquaredNorm):
        return 1.0, np.zeros(dim) if f.center is None else f.center
    if isinstance(f, Linear):
        return 0.0, -f.c
    if isinstance(f, Zero):
        return 0.0, np.zeros(dim)
    if isinstance(f, Multiple):
        inner = isotropic(f.inner, dim)
        return None if inner is None else (f.factor * inner[0], f.factor * inner[1])
    if isinstance(f, Sum):
        parts = [part for term in f.terms if (part := isotropic(term, dim)) is not None]
        if len(parts) == len(f.terms):
            return sum(mu for mu, _ in parts), np.sum([c for _, c in parts], axis=0)
    return None


def hessian(objective: Objective, dim: int) -> Vector:
    """The Hessian of a quadratic objective, d x d, from its gradients at multiples of the unit vectors."""
    f = bare(objective)
    at_zero = f.grad(np.zeros(dim))
    # so far out that the linear term does not drown the second-order one
    far = 1.0 + float(np.linalg.norm(at_zero)) / (f.smoothness or 1.0)
    columns = np.array([f.grad(row) - at_zero for row in far * np.eye(dim)]) / far
    return (columns + columns.T) / 2
