"""Chains of linear and quadratic levels over sets by cones, with a bracket for each level.

Each level is minimised over what those before leave: the face of the cones that their multipliers leave, with their
images held (``face``). Bounds from below come from the multipliers alone (``bracket``). Bounds from above on later
levels need a true solution of the earlier ones: where the minimiser of a level is shown to be the only one
(``newton_kantorovich``), or where a level is a sum of squares that can all be zero, so that its minimisers are known by
its data. Elsewhere there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ...arrays import Vector, length
from ...numerics.conic_rows import ConicRows, NoPoint
from ...numerics.exact import Exact
from ...objectives.base import Objective
from ...sets.base import Domain
from ..answer import Answer, Duals, Unbounded
from ..interrupt import keeping_levels
from .bracket import Reach, Record, close, lower_bound, record, upper_bound
from .face import CLEAR, Face
from .level import ExactLevel
from .newton_kantorovich import distance
from .polish import NoMinimum, Solved, lifted, solve_level

STALLED = 1e-14
"""A residual of the optimality conditions above this is worth a note."""

WIDE = 1e3
"""Solutions over sets without bounds are assumed to be within so many sizes of the point."""

NOTHING = 1e-24
"""A sum of squares below this, relative to its terms, may be zero."""

OUTSIDE = 1e-6
"""Points over a face that miss a cone by more than this, relative to the terms of its slacks, are none of the set."""

SINGULAR = "singular values are those of a matrix within rounding of the given one"
BETWEEN = (
    "the optimal values of levels between the first and the last are those at x (bounds of later levels need that)"
)


def solve_conic(levels: Sequence[Objective], domain: Domain) -> list[Answer]:
    """The answers of all levels: what ``conic_applies`` has passed, which is not asked again.

    Examples
    --------
    The lowest points of a disk of radius one that is cut at y >= 0, and of these the one nearest to (3, 3):

    >>> import tiebreak as tb
    >>> rows = [[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0], [0.0, -1.0]]
    >>> Z = tb.Cone(rows, [1.0, 0.0, 0.0, 0.0], [("second-order", 3), ("nonnegative", 1)])
    >>> answers = solve_conic([tb.Linear([0.0, 1.0]), tb.SquaredNorm([3.0, 3.0])], Z)
    >>> answers[-1].x.round(12) + 0.0, bool(abs(answers[-1].f_lower - 6.5) < 1e-8)
    (array([1., 0.]), True)
    """
    assert domain.conic is not None
    return _Chain(domain.conic, [ExactLevel(one.form, domain.conic.A.shape[1]) for one in levels]).solve()  # type: ignore[arg-type]


@dataclass
class _Chain:
    """What is known while a chain is solved, level by level."""

    rows: ConicRows
    levels: list[ExactLevel]
    answers: list[Answer] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    assumes: list[str] = field(default_factory=lambda: [SINGULAR])
    well_posed: bool = True

    def __post_init__(self) -> None:
        self.count = self.rows.b.size  # later levels may have more rows, after these

    def solve(self) -> list[Answer]:
        face = Face.of(self.rows)
        first = 0
        while len(self.answers) < len(self.levels):
            k = len(self.answers)
            level = self.levels[k]
            with keeping_levels(self.answers):
                try:
                    solved = solve_level(face, level)
                except NoMinimum as stop:
                    self._fall(face, level, stop.direction)
                    solved = None
                if solved is None:
                    self._give_up(face.x, "the interior-point method fails")
                    break
                if k and self.rows.missed(solved.x.double()) > OUTSIDE:
                    self._give_up(
                        face.x,
                        f"what level {k} leaves is not seen: it is outside of the set, as where the minimum of a level "
                        "is approached for ever and never attained",
                    )
                    break
                if k == first and self._unique(face, level, solved):
                    break
                if k == first and (exact := self._exactly(level, solved)) is not None:
                    self._add(level, solved.x.double(), 0.0, 0.0, Exact.of(np.zeros(self.count)))
                    self.rows, face, first = exact, Face.of(exact), k + 1
                    continue
                self._bracket(face, level, solved, first)
            if k + 1 < len(self.levels):
                face = self._after(face, level, solved)
        return self.answers

    # -- one level -----------------------------------------------------------------------------------------------------

    def _bracket(self, face: Face, level: ExactLevel, solved: Solved, first: int) -> None:
        """The bracket that multipliers give, after those of the levels since ``first``."""
        k = len(self.answers)
        reach = self._reach(solved.x)
        own = record(face, level, solved, reach)
        low = lower_bound(self.rows, own, self.records, reach)
        above = upper_bound(self.rows, level, solved.x) if k == first else own.value
        high = above.above() if k == first else np.inf
        if self.records and k + 1 < len(self.levels):
            self.assumes.append(BETWEEN)
        close(self.rows, own, self.records, above, reach)
        self.records.append(own)
        if solved.residual > STALLED:
            self.notes.append(f"level {k + 1}: the optimality conditions are met to {solved.residual:.0e} only")
        self._add(level, solved.x.double(), low, high, own.z)

    def _add(self, level: ExactLevel, x: Vector, low: float, high: float, z: Exact | None = None) -> None:
        before = self.answers[-1] if self.answers else None
        self.answers.append(
            Answer(
                x,
                g_lower=before.f_lower if before else low,
                g_upper=before.f_upper if before else high,
                f_lower=low,
                f_upper=high,
                well_posed=self.well_posed,
                notes=tuple(self.notes),
                assumes=tuple(dict.fromkeys(self.assumes)),
                own_duals=None if z is None else Duals(-z.double()[: self.count], np.zeros(x.size)),
            )
        )

    def _unique(self, face: Face, level: ExactLevel, solved: Solved) -> bool:
        """Whether the level has one minimiser for certain: then all that follow have their values there."""
        if not self.rows.symmetric:  # the proof is one for quadratic conditions
            return False
        z = lifted(face, solved.z)
        mu = face.prices(level.exactly(solved.x)[1] + self.rows.exact[0].T @ z)
        z = z + face.pulled(mu)[0]
        far = distance(self.rows, level, solved.x, z, solved.units)
        if far is None:
            return False
        k = len(self.answers)
        self.notes.append(f"the only minimiser of level {k + 1} is shown to be within {far:.1e} of x")
        for later, one in enumerate(self.levels[k:]):
            value, slope = one.exactly(solved.x)
            steep = length(slope.double()) * far * (1 + 1e-12)
            low = (value - steep).below()
            high = (value + (steep + one.steepness(solved.x.double(), far) * far**2)).above()
            self._add(one, solved.x.double(), low, high, None if later else z)
            if later:
                self.answers[-1] = replace(self.answers[-1], lower_unique=True, upper_constant=True)
        return True

    def _exactly(self, level: ExactLevel, solved: Solved) -> ConicRows | None:
        """The minimisers as a set by cones, where the level is a sum of squares that can all be zero; else None."""
        form = level.form
        if form.bends or form.slopes or float(form.constant) or not form.losses:
            return None
        A, b = [self.rows.A], [self.rows.b]
        value = float(level.exactly(solved.x)[0].double())
        terms = 0.0
        for loss, data, scale in form.losses:
            B = sp.csr_array(np.eye(level.dim) if data is None else data.raw)
            target = np.zeros(B.shape[0]) if loss.target is None else loss.target
            A.append(B)
            b.append(np.asarray(target, dtype=np.float64))
            size = length(abs(B) @ np.abs(solved.x.double())) + length(b[-1])
            terms += float(scale) * float(np.max(loss.most)) * size**2
        if value > NOTHING * terms:
            return None
        count = sum(part.size for part in b[1:])
        stacked = sp.csr_array(sp.vstack(A))
        try:
            exact = ConicRows(stacked, np.concatenate(b), (*self.rows.cones, ("zero", float(count))))
            fixed = stacked[exact.zero]
            independent = np.linalg.matrix_rank(fixed.toarray(), tol=None) == fixed.shape[0]
            room = exact.middle.room
        except NoPoint:
            return None
        if not independent or not room > 0:
            return None
        self.notes.append(f"level {len(self.answers) + 1} is zero at its solutions, which are those of its equations")
        return exact

    def _after(self, face: Face, level: ExactLevel, solved: Solved) -> Face:
        """What the level leaves, and whether that is in doubt."""
        k = len(self.answers)
        z = [part.double() for part in solved.z]
        unit = max([solved.units.z, *(float(np.linalg.norm(part)) for part in z)])
        left = face.after(level, solved.x, z, unit)
        margin = _complementarity(face, solved, unit)
        if left.doubtful or margin < CLEAR:
            self.well_posed = False
            self.notes.append(
                f"level {k}: strict complementarity is in doubt (slacks and multipliers of a cone are both below "
                f"{max(margin, 0.0):.0e} of their sizes), so that a small change of the data may change what is left"
            )
            self.answers[-1] = replace(self.answers[-1], well_posed=False, notes=tuple(self.notes))
        return left

    # -- what can go wrong ---------------------------------------------------------------------------------------------

    def _reach(self, x: Exact) -> Reach:
        bounds = self.rows.bounds
        if bounds is not None:
            return Reach(bounds.diameter, bounds.most)
        s = self.rows.exact_slacks(x).double()
        far = WIDE * (length(x.double()) + length(s) / self.rows.size)
        said = f"solutions are within {far:.0e} of x, as the domain is not known to be bounded"
        self.assumes[:] = [*(one for one in self.assumes if not one.startswith("solutions are within")), said]
        return Reach(far, length(self.rows.unit) * (length(s) + self.rows.size * far))

    def _fall(self, face: Face, level: ExactLevel, direction: Vector) -> None:
        """Raise, where the direction is seen to be one along which the level falls for ever."""
        d = direction / (length(direction) or 1.0)
        slope = float(level.exactly(face.x)[1].double() @ d)
        size = length(np.asarray(level.p, dtype=np.float64)) or 1.0
        bent = float(d @ level.hessian(face.x.double()) @ d)
        inside = min((block.cone.margin(Exact.of(-(block.T @ (face.A @ d)))) for block in face.blocks), default=0.0)
        if slope < -1e-6 * size and abs(bent) < 1e-9 * size and inside > -1e-6 * self.rows.size:
            raise Unbounded(len(self.answers), d, face.x.double(), tuple(self.answers))

    def _give_up(self, x: Exact, why: str) -> None:
        """All levels that are left, without a proof."""
        self.well_posed = False
        self.notes.append(f"no proof of level {len(self.answers) + 1}: {why}")
        for level in self.levels[len(self.answers) :]:
            self._add(level, x.double(), level.form.lower_bound, np.inf)


def _complementarity(face: Face, solved: Solved, unit: float) -> float:
    """The least eigenvalue of s + z over all cones, each relative to its size."""
    s = face.rows.exact_slacks(solved.x)
    found = np.inf
    for block, T, z in zip(face.blocks, face.maps, solved.z, strict=True):
        own = T @ s
        size = max(solved.units.s, length(own.double()))
        found = min(found, block.cone.sum_margin(own * (1 / size), z * (1 / unit)))
    return float(found)
