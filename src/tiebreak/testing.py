"""Conformance checks for your own objectives, sets and methods: what the library relies on, tried on examples.

Each function returns the number of checks made and raises ``AssertionError`` with a sentence at the first that fails.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice, pairwise
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .arrays import Vector, as_count, as_seed
from .callbacks import Every
from .methods import Solver, State
from .objectives import LeastSquares, Linear, Loss, Objective, SquaredNorm, check_convexity, check_gradient
from .problem import Problem
from .sets import Box, CutStatus, Domain, L1Ball, L2Ball, Simplex
from .states import states_of
from .watch import watched


class _Checks:
    """Counts checks and raises at the first failure."""

    def __init__(self) -> None:
        self.made = 0

    def that(self, fact: Any, sentence: str) -> None:
        self.made += 1
        if not fact:
            raise AssertionError(sentence)


def check_objective(objective: Objective, dim: int | None = None, seed: int = 0, points: int = 5) -> int:
    """Check value, gradient, facts and structure of an objective at random points.

    Where it is not differentiable, the gradient is that of its smooth part, its norms have a prox, and the subgradient
    inequality is tried at points with zeros as well.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.testing.check_objective(tb.Logistic([[1.0, 2.0], [0.5, -1.0]], [1, -1])) > 20
    True
    """
    _expect(objective, Objective, "objective")
    points = as_count(points, "points")
    checks, rng = _Checks(), np.random.default_rng(as_seed(seed))
    size = _dimension(objective.dim, dim, "the objective")
    sample = [rng.standard_normal(size) for _ in range(points)]
    if objective.lipschitz is not None:
        _check_steepness(checks, objective, objective.lipschitz, sample)
    elif not objective.differentiable:
        sample += [np.zeros(size), np.where(np.arange(size) % 2 == 0, 0.0, sample[0])]
        _check_norms(checks, objective, sample)
    for x in sample:
        value, grad = objective.value_and_grad(x)
        scale = 1e-12 + 1e-9 * (abs(value) + float(np.abs(grad).max()))
        checks.that(np.isfinite(value) and np.isfinite(grad).all(), "value and gradient must be finite")
        checks.that(grad.shape == (size,), f"the gradient must have shape ({size},), got {grad.shape}")
        checks.that(abs(objective.value(x) - value) <= scale, "value must agree with value_and_grad")
        checks.that(np.abs(objective.grad(x) - grad).max() <= scale, "grad must agree with value_and_grad")
        checks.that(value >= objective.lower_bound - scale, "no value may be below lower_bound")
        image = objective.image(x)
        at_value, at_grad = objective.value_and_grad_at(x, image)
        checks.that(abs(at_value - value) <= scale, "value_and_grad_at must give the value")
        checks.that(np.abs(at_grad - grad).max() <= scale, "value_and_grad_at must give the gradient")
        checks.that(abs(objective.value_at(x, image) - value) <= scale, "value_at must give the value")
        checks.that(min(objective.rounding(x)) >= 0, "rounding errors must not be negative")
        both = objective.value_and_error(x)
        checks.that(abs(both[0] - value) <= scale, "value_and_error must give the value")
        checks.that(both[1] == objective.rounding(x)[0], "value_and_error must give the error of rounding")
        by_form = value if objective.form is None else objective.form.value(x)
        checks.that(abs(by_form - value) <= scale, "the form must give the value")
        check_gradient(objective.smooth_part, x)
        for piece in objective.pieces:
            steep = float(np.linalg.norm(piece.grad(x))) <= piece.steepest(size) * (1 + 1e-9)
            checks.that(steep, "steepest must bound the subgradients")
        checks.made += 1
    if objective.form is not None:
        for loss, data, _ in objective.form.losses:
            _check_loss(checks, loss, [x if data is None else data.times(x) for x in sample])
    if objective.convex:
        check_convexity(objective, sample)
        checks.made += 1
    if objective.smoothness is not None:
        for x, y in pairwise(sample):
            change = float(np.linalg.norm(objective.grad(x) - objective.grad(y)))
            bound = objective.smoothness * float(np.linalg.norm(x - y))
            checks.that(change <= bound * (1 + 1e-9) + 1e-12, "smoothness must bound the change of the gradient")
    return checks.made


def _check_loss(checks: _Checks, loss: Loss, sample: list[Vector]) -> None:
    """What a loss says of its derivatives, at predictions t."""
    for t, other in pairwise(sample):
        value, slope = loss.value_and_slope(t)
        step = 1e-5 * (1 + np.abs(t)) * np.sign(other - t)
        bend, size = loss.curvature_times(t, step), np.abs(slope).max() + np.abs(loss.curvature(t) * step).max()
        smooth = loss.room(t) > 2 * np.abs(step)  # away from jumps of h''
        turn = (loss.value_and_slope(t + step)[1] - loss.value_and_slope(t - step)[1]) / 2
        off = np.abs(turn - bend)[smooth].max(initial=0.0)
        checks.that(off <= 1e-4 * np.abs(bend).max() + 1e-12 * size, f"{loss.name}: curvature must be the slope's")
        checks.that((loss.curvature(t) <= np.asarray(loss.most) * (1 + 1e-9)).all(), f"{loss.name}: most must bound it")
        if loss.separable and np.isfinite(loss.self_concordance):
            near = t + np.clip(other - t, -1.0, 1.0)
            stays = loss.room(t) > np.abs(near - t)
            change = np.exp(loss.self_concordance * np.abs(near - t)) * (1 + 1e-9)
            here, there = loss.curvature(t), loss.curvature(near)
            fits = (there <= here * change + 1e-300) & (here <= there * change + 1e-300)
            checks.that(fits[stays].all(), f"{loss.name}: self_concordance must bound the change of the curvature")
        dual = loss.conjugate(slope)
        below = float(slope @ other) - loss.value(other)
        checks.that(dual >= below - 1e-9 * (1 + abs(below)), f"{loss.name}: conjugate must be the supremum")
        if np.isfinite(dual):
            young = float(slope @ t) - value
            checks.that(abs(dual - young) <= 1e-7 * (1 + abs(young)), f"{loss.name}: conjugate at h'(t)")


def _check_steepness(checks: _Checks, objective: Objective, most: float, sample: list[Vector]) -> None:
    """What a Lipschitz constant of the function itself promises."""
    for x, y in pairwise([*sample, np.zeros_like(sample[0])]):
        rise = abs(objective.value(x) - objective.value(y))
        checks.that(rise <= most * float(np.linalg.norm(x - y)) * (1 + 1e-9) + 1e-12, "lipschitz must bound the rise")
        checks.that(float(np.linalg.norm(objective.grad(x))) <= most * (1 + 1e-9), "lipschitz must bound subgradients")


def _check_norms(checks: _Checks, objective: Objective, sample: list[Vector], step: float = 0.7) -> None:
    whole = objective.norms or objective.pieces
    checks.that(whole, "an objective that is not differentiable must be its smooth_part plus its norms and pieces")
    checks.that(objective.smoothness is None, "an objective that is not differentiable has no smoothness")
    for x in sample:
        parts = objective.smooth_part.value(x) + sum(p.value(x) for p in (*objective.norms, *objective.pieces))
        value = objective.value(x)
        checks.that(abs(value - parts) <= 1e-9 * (1 + abs(value)), "value must be smooth_part plus norms and pieces")
    for norm in objective.norms:
        for v in sample:
            p = norm.prox(v, step)
            slope, at_p = (v - p) / step, norm.value(p)
            fits = all(norm.value(s) >= at_p + slope @ (s - p) - 1e-9 * (1 + at_p) for s in sample)
            checks.that(fits, "(v - prox(v, step)) / step must be a subgradient at prox(v, step)")
            steep = float(np.linalg.norm(norm.grad(v))) <= norm.steepest(v.size) * (1 + 1e-9)
            checks.that(steep, "steepest must bound the subgradients")


def check_set(domain: Domain, dim: int | None = None, seed: int = 0, trials: int = 10) -> int:
    """Check the oracles of a set, and what it says of itself, against each other in random directions.

    A set without ``lmo``, such as an unbounded one, is checked by its projections.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.testing.check_set(tb.Simplex(), dim=4) > 50
    True
    """
    _expect(domain, Domain, "domain")
    trials = as_count(trials, "trials")
    checks, rng = _Checks(), np.random.default_rng(as_seed(seed))
    size = _dimension(domain.dim, dim, "the set")
    directions = [rng.standard_normal(size) for _ in range(trials)] + [np.zeros(size)]
    if "lmo" not in domain.oracles:
        _check_by_projections(checks, domain.with_dim(size), directions)
        return checks.made
    corners = [domain.lmo(c) for c in directions]
    reach = 1 + max(float(np.linalg.norm(s)) for s in corners)
    tol = 1e-7 * reach
    for c, s in zip(directions, corners, strict=True):
        checks.that(domain.contains(s), "lmo must return a point of the set")
        checks.that(all(c @ s <= c @ other + tol for other in corners), "lmo must return a minimiser")
        checks.that(domain.lmo_bound(c, s) <= c @ s + tol, "lmo_bound must not exceed <c, lmo(c)>")
    distances = [float(np.linalg.norm(s - other)) for s in corners for other in corners]
    checks.that(max(distances) <= domain.diameter * (1 + 1e-9) + tol, "diameter must bound all distances")
    if "project" in domain.oracles:
        for x in directions:
            _check_projection(checks, domain, 3 * reach * x, corners, tol * reach)
    if "lmo_cut" in domain.oracles:
        for a, c in pairwise(directions):
            _check_cut(checks, domain, a, c, corners, tol)
    _check_description(checks, domain.with_dim(size), directions, corners, tol)
    return checks.made


def _check_by_projections(checks: _Checks, domain: Domain, directions: list[Vector]) -> None:
    """Projections against each other, and against what the set says of itself."""
    points = [domain.project(factor * x) for x in directions for factor in (1.0, 100.0)]
    tol = 1e-7 * (1 + max(float(np.linalg.norm(p)) for p in points))
    checks.that("lmo_cut" not in domain.oracles, "a set without lmo has no lmo_cut")
    checks.that(domain.contains(domain.some_point()), "some_point must be a point of the set")
    signs, rows = domain.signs(directions[0].size), domain.rows
    for x in directions:
        _check_projection(checks, domain, 10 * x, points, tol)
    for p, q in pairwise(points):
        checks.that(domain.contains((p + q) / 2, 1e-8), "the set must be convex")
        checks.that(domain.distance_outside(p) <= tol, "distance_outside must be small for a point of the set")
        checks.that(bool((signs * p >= -tol).all()), "signs must be those of all points")
        if rows is not None and not rows.limits_sizes:
            missed = max(rows.plain.missed_by(p), float(np.maximum(rows.lower - p, p - rows.upper).max()))
            checks.that(missed <= tol, "rows must hold at all points")
    apart = max(float(np.linalg.norm(p - q)) for p in points for q in points)
    checks.that(apart <= domain.diameter * (1 + 1e-9) + tol, "diameter must bound all distances")


def _check_projection(checks: _Checks, domain: Domain, x: Vector, corners: list[Vector], tol: float) -> None:
    p = domain.project(x)
    checks.that(domain.contains(p, 1e-8), "project must return a point of the set")
    checks.that(
        all((x - p) @ (s - p) <= tol * (1 + float(np.linalg.norm(x))) for s in corners),
        "project must return the nearest point (variational inequality)",
    )
    checks.that(np.abs(domain.project(p) - p).max() <= tol, "projecting twice must change nothing")


def _check_cut(checks: _Checks, domain: Domain, a: Vector, c: Vector, corners: list[Vector], tol: float) -> None:
    least, most = float(c @ domain.lmo(c)), float(c @ domain.lmo(-c))
    middle = 0.5 * (least + most)
    cut = domain.lmo_cut(a, c, middle)
    checks.that(domain.contains(cut.point), "the point of a cut must be in the set")
    checks.that(c @ cut.point <= middle + tol, "the point of a cut must satisfy the cut")
    checks.that(cut.multiplier >= 0 and np.isfinite(cut.multiplier), "a feasible cut has a multiplier >= 0")
    allowed = [s for s in corners if c @ s <= middle]
    checks.that(all(a @ cut.point <= a @ s + cut.gap + tol for s in allowed), "the point of a cut must be optimal")
    slope = a + cut.multiplier * c
    dual = float(slope @ domain.lmo(slope)) - cut.multiplier * middle
    checks.that(abs(a @ cut.point - dual) <= cut.gap + tol * (1 + cut.multiplier), "the multiplier must close the gap")
    if most - least > tol:
        empty = domain.lmo_cut(a, c, least - (most - least))
        checks.that(empty.status is CutStatus.INFEASIBLE, "a cut that misses the set must be infeasible")


def _check_description(
    checks: _Checks, domain: Domain, directions: list[Vector], corners: list[Vector], tol: float
) -> None:
    """Signs, sizes, rows and axes are those of the points that ``lmo`` returns."""
    from .sets.epigraph import signed_parts

    signs, rows, axes = domain.signs(corners[0].size), domain.rows, domain.axes
    for c, s in zip(directions, corners, strict=True):
        checks.that((signs * s >= 0).all(), "signs must be those of all points")
        size = np.abs(c)
        checks.that(size @ np.abs(s) <= domain.largest(size) + tol, "largest must bound <size, |s|>")
        if axes is not None:
            slopes = np.concatenate([c * axes.extents, -c * axes.extents if axes.signed else []])
            checks.that(abs(float(slopes.min()) - c @ s) <= tol, "axes must be the vertices of the set")
    if rows is not None:
        parted, lifted = rows.absolute, signed_parts(domain, rows.absolute)
        for c, s in zip(directions, corners, strict=True):
            parts = lifted.lmo(np.append(c, -c[parted]))
            x = parts[: s.size]
            x[parted] -= parts[s.size :]
            checks.that(domain.contains(x, 1e-8), "points that satisfy the rows must be in the set")
            checks.that(abs(c @ x - c @ s) <= tol, "linear minima over the rows must be those of lmo")


@dataclass(frozen=True)
class KnownProblem:
    """A problem with its answer."""

    name: str
    problem: Problem
    f_star: float
    g_star: float


def known_problems() -> list[KnownProblem]:
    """Small problems with closed-form answers, for checking methods."""
    ones = np.ones((1, 4))
    return [
        KnownProblem(
            "least norm on a hyperplane, l1 ball",
            Problem(SquaredNorm(), LeastSquares(ones, [1.0]), L1Ball(2.0)),
            f_star=0.125,
            g_star=0.0,
        ),
        KnownProblem(
            "nearest point on an optimal edge of the simplex",
            Problem(SquaredNorm([0.7, 0.3, 0.9]), Linear([0.0, 0.0, 1.0]), Simplex()),
            f_star=0.405,
            g_star=0.0,
        ),
        KnownProblem(
            "linear over an optimal face of a box",
            Problem(Linear([1.0, -2.0, 3.0]), Linear([0.0, 1.0, 0.0]), Box(-np.ones(3), np.ones(3))),
            f_star=-2.0,
            g_star=-1.0,
        ),
        KnownProblem(
            "unique lower solution in a ball",
            Problem(Linear([1.0, 1.0]), SquaredNorm([3.0, 4.0]), L2Ball(1.0)),
            f_star=1.4,
            g_star=8.0,
        ),
        KnownProblem(
            "constant lower level",
            Problem(SquaredNorm([1.0, 1.0]), LeastSquares(np.zeros((1, 2)), [2.0]), Simplex()),
            f_star=0.25,
            g_star=2.0,
        ),
    ]


def check_solver(solver: Solver[Any], updates: int = 60) -> int:
    """Run a method on problems with known answers and check everything the loop relies on.

    A method may refuse a problem it is not made for, by a ValueError that names it; it must take at least one.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.testing.check_solver(tb.AnytimeCGBiO()) > 100
    True
    """
    _expect(solver, Solver, "solver")
    updates = as_count(updates, "updates")
    checks = _Checks()
    taken = [known for known in known_problems() if not _refused(checks, solver, known)]
    checks.that(taken, "it refuses every problem")
    for known in taken:
        _check_run(checks, solver, known, updates)
        _check_purity(checks, solver, known)
        _check_resume(checks, solver, known, updates)
    return checks.made


def _refused(checks: _Checks, solver: Solver[Any], known: KnownProblem) -> bool:
    try:
        solver.start(known.problem, None)
    except ValueError as refusal:
        named = solver.info.name in str(refusal)
        checks.that(named, f"on {known.name!r}: a refusal must name the method, got: {refusal}")
        return True
    return False


def _check_run(checks: _Checks, solver: Solver[Any], known: KnownProblem, updates: int) -> None:
    from .solve import solve

    where = f"on {known.name!r}: "

    def look(event: Any) -> None:
        checks.that(np.isfinite(event.x).all(), where + "iterates must be finite")
        checks.that(event.k == event.state.k and event.k <= updates, where + "k must count the updates")

    result = solve(known.problem, solver, max_iter=updates, callback=Every(1, look))
    c = result.certificate
    checks.that(result.nit <= updates, where + "no more updates than asked for")
    checks.that(c.g_lower <= known.g_star + 1e-12 and known.g_star <= c.g_upper + 1e-12, where + "g* in its bracket")
    checks.that(c.f_lower <= known.f_star + 1e-9, where + "f_lower must not exceed f*")
    checks.that(result.verify(known.problem).feasible, where + "the answer must be in the domain")
    calls: Counter[str] = Counter()
    problem = known.problem if solver.works_on_data else watched(known.problem, calls)
    for _ in islice(states_of(problem, solver, None), 4):
        pass
    values = {"upper.value", "lower.value"}
    checks.that(set(calls) - values <= solver.needs, where + f"it calls more than it needs: {set(calls)}")


def _check_purity(checks: _Checks, solver: Solver[Any], known: KnownProblem) -> None:
    where = f"on {known.name!r}: "
    first = solver.advance(known.problem, solver.start(known.problem, None))
    before = _flatten(first)
    one = solver.advance(known.problem, first)
    other = solver.advance(known.problem, first)
    checks.that(_same(before, _flatten(first)), where + "advance must not change the state it is given")
    checks.that(_same(_flatten(one), _flatten(other)), where + "advance must be deterministic")
    checks.that(one.finished or one.k == first.k + 1 or one.k == first.k, where + "one update at a time")


def _check_resume(checks: _Checks, solver: Solver[Any], known: KnownProblem, updates: int) -> None:
    from .solve import solve
    from .storage import load_state, save_state

    tight = {"tol_upper": 1e-300, "tol_lower": 1e-300}
    whole = solve(known.problem, solver, max_iter=updates, **tight)  # type: ignore[arg-type]
    half = solve(known.problem, solver, max_iter=updates // 2, **tight)  # type: ignore[arg-type]
    rest = solve(known.problem, solver, max_iter=updates, x0=half.state, **tight)  # type: ignore[arg-type]
    same = whole.nit != rest.nit or np.array_equal(whole.x, rest.x)
    checks.that(same, f"on {known.name!r}: a resumed run must equal an uninterrupted one")
    if half.state is not None:
        with TemporaryDirectory() as folder:
            save_state(half.state, f"{folder}/state.npz")  # TypeError says what is no plain data in it
            back = load_state(f"{folder}/state.npz")
        kept = _same(_flatten(half.state), _flatten(back))
        checks.that(kept, f"on {known.name!r}: a state must be the same after it was saved and loaded")


def _flatten(value: object) -> list[Any]:
    """The numbers and arrays inside a state, in order."""
    if isinstance(value, State) or (is_dataclass(value) and not isinstance(value, type)):
        return [item for one in fields(value) for item in _flatten(getattr(value, one.name))]
    if isinstance(value, (tuple, list)):
        return [item for one in value for item in _flatten(one)]
    return [value.copy() if isinstance(value, np.ndarray) else value]


def _same(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def _dimension(known: int | None, given: int | None, what: str) -> int:
    if known is None and given is None:
        raise ValueError(f"{what} fits any dimension: pass dim=")
    if known is not None and given not in (None, known):
        raise ValueError(f"dim is {given}, but {what} has dimension {known}")
    return as_count(given, "dim") if known is None else known


def _expect(part: object, kind: type, name: str) -> None:
    if not isinstance(part, kind):
        raise TypeError(f"{name} must be a tiebreak {kind.__name__}, got {part!r}")
