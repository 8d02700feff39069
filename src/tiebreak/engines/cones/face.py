"""A linear lower level whose minimisers are a face with more than one point: the upper level on that face.

Which eigenvalues or lengths of groups are equal is not for floating point to say: differences of the size of rounding
count as none, and that is said. If some of them were not equal the face would be smaller and f* larger, so the bound
from below holds all the same; the one from above is conditional.
"""

from __future__ import annotations

import numpy as np

from ...arrays import UNIT_ROUNDOFF, length
from ...numerics.extended import EXTENDED, double, ext, product
from ...objectives.base import Objective
from ...objectives.composed import Composed
from ...problem import Problem
from ...sets.base import Domain
from ...sets.round.description import Face
from ..answer import Answer
from .level import Level

EQUAL = (
    "eigenvalues and lengths of the lower level's slope that differ by rounding are equal (f_upper alone needs that)"
)


def on_face(lower: Level, upper: Level, objective: Objective, domain: Domain, face: Face) -> Answer | None:
    """The upper level over the face, with a bracket; None where no engine minimises over it."""
    from ..choice import choose_engine

    choice = choose_engine(Problem(Composed(objective, face.N), [], face.domain))
    if choice.engine is None:
        return None
    z = face.domain.project(choice.solve().x)
    x = product(face.N, ext(z))
    here, there = upper.at(x), lower.at(x)
    outside = face.domain.distance_outside(z) * (1 + 1e-12) + face.off
    slope = double(product(face.N.T, here.grad))
    error = here.grad_error + 4 * UNIT_ROUNDOFF * length(double(here.grad))
    least = face.domain.lmo_bound(slope, face.domain.lmo(slope))
    reach = float(slope @ z)
    gap = reach - least + (z.size + 8) * UNIT_ROUNDOFF * float(np.abs(slope) @ np.abs(z)) + error * face.domain.diameter
    c = double(there.grad)
    g_least = domain.lmo_bound(c, domain.lmo(c)) - (there.grad_error + UNIT_ROUNDOFF * length(c)) * (
        domain.diameter + length(double(x))
    )
    constant = there.below - float(c @ double(x)) - (z.size + 8) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(double(x)))
    return Answer(
        double(x),
        constant + g_least - 4 * UNIT_ROUNDOFF * (abs(constant) + abs(g_least)),
        there.above + lower.rise(there, x, outside),
        float(np.nextafter(here.below - max(gap, 0.0) - upper.fall(here, outside), -np.inf)),
        float(np.nextafter(here.above + upper.rise(here, x, outside), np.inf)),
        lower_unique=None,
        notes=(f"the lower solutions are a face with {face.description}",),
        assumes=(EXTENDED, EQUAL),
    )
