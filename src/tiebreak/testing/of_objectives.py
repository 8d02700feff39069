"""Whether an objective keeps its word: value, gradient, facts and structure."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Vector, as_count, as_seed
from ..objectives import Loss, Objective, check_convexity, check_gradient
from .checks import Checks, dimension, expect


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
    expect(objective, Objective, "objective")
    points = as_count(points, "points")
    checks, rng = Checks(), np.random.default_rng(as_seed(seed))
    size = dimension(objective.dim, dim, "the objective")
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


def _check_loss(checks: Checks, loss: Loss, sample: list[Vector]) -> None:
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


def _check_steepness(checks: Checks, objective: Objective, most: float, sample: list[Vector]) -> None:
    """What a Lipschitz constant of the function itself promises."""
    for x, y in pairwise([*sample, np.zeros_like(sample[0])]):
        rise = abs(objective.value(x) - objective.value(y))
        checks.that(rise <= most * float(np.linalg.norm(x - y)) * (1 + 1e-9) + 1e-12, "lipschitz must bound the rise")
        checks.that(float(np.linalg.norm(objective.grad(x))) <= most * (1 + 1e-9), "lipschitz must bound subgradients")


def _check_norms(checks: Checks, objective: Objective, sample: list[Vector], step: float = 0.7) -> None:
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
