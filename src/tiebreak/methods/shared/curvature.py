"""Facts about the curvature of an objective that some theories ask for: strong convexity, Hessians of quadratics."""

from __future__ import annotations

import numpy as np

from ...arrays import Vector
from ...composite import bare
from ...objectives.base import Objective

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
    if f.form is not None and len(f.parts) < 2:
        return f.form.strong_convexity
    parts = [(factor, part) for factor, part in f.parts if part is not f] if f.convex else []
    return sum(factor * strong_convexity(part, dim) for factor, part in parts)


def isotropic(objective: Objective, dim: int) -> tuple[float, Vector] | None:
    """mu and c where the objective is mu/2 ||x||^2 - <c, x> up to a constant; None where it is not such a sum.

    Its prox, projected onto Z, is that of the objective over Z.
    """
    form = objective.form
    return None if form is None else form.isotropic(dim)


def hessian(objective: Objective, dim: int) -> Vector:
    """The Hessian of a quadratic objective, d x d, from its gradients at multiples of the unit vectors."""
    f = bare(objective)
    at_zero = f.grad(np.zeros(dim))
    # so far out that the linear term does not drown the second-order one
    far = 1.0 + float(np.linalg.norm(at_zero)) / (f.smoothness or 1.0)
    columns = np.array([f.grad(row) - at_zero for row in far * np.eye(dim)]) / far
    return (columns + columns.T) / 2
