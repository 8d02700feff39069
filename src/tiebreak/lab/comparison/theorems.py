"""Proven bounds on gaps, with their constants: functions of k that no iterate may exceed.

Those of CG-BiO, AGM-BiO and FISTA are the theorems of the papers. Those of MNG, BiG-SAM, Tseng's method and a-IRG are
derived here along the papers' proofs, for the methods as they are in this library.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Vector
from .rate_problems import RateProblem


def conditional_gradient(p: RateProblem, k: Vector, factor: float, level: str) -> Vector:
    """factor C / (k + 1) with C = L D^2 of that level."""
    L = p.L_f if level == "upper" else p.L_g
    bound: Vector = factor * L * p.problem.domain.diameter**2 / (k + 1)
    return bound


def mng(p: RateProblem, k: Vector) -> Vector:
    """The best of k iterates: 4 M / 3 times 2 (f* - f_0) / sqrt(k), f_0 the minimum of f, for f = 1/2 ||x||^2.

    Each x is the minimum of f over a half-space through the one before it, so f grows by at least half of the squared
    steps: they sum to at most 2 (f* - f_0), and ||x - x*||^2 is at most that, too. A step is at least 3/(4M) ||G||, and
    g(y) - g* <= ||G|| ||x - x*||.
    """
    bound: Vector = 4 / 3 * p.L_g * 2 * p.f_star / np.sqrt(k)
    return bound


def big_sam(p: RateProblem, k: Vector) -> Vector:
    """For f = 1/2 ||x||^2, whose gradient step S goes to 0 at once, and weights alpha_k = min(2 / k, 1).

    All x_k are within C = max(||x_0 - x*||, ||x*||) of x*, so S and T = Proj(. - grad g / L_g) are never farther than
    2 C apart. With d_k = ||x_k - x_{k-1}||, d_{k+1} <= (1 - alpha_{k+1}) d_k + 2 C |alpha_{k+1} - alpha_k|, and
    g(y_k) - g* <= L_g ||x_{k-1} - y_k|| C <= L_g (d_k + 2 C alpha_k) C.
    """
    C = max(p.distance, float(np.linalg.norm(p.x_star)))
    last = int(k[-1])
    alpha = np.minimum(2.0 / np.arange(1, last + 1), 1.0)
    steps = np.empty(last)
    steps[0] = 2 * C
    for j in range(1, last):
        steps[j] = (1 - alpha[j]) * steps[j - 1] + 2 * C * abs(alpha[j] - alpha[j - 1])
    bound: Vector = (p.L_g * C * (steps + 2 * C * alpha))[k.astype(int) - 1]
    return bound


def tseng(p: RateProblem, k: Vector) -> Vector:
    """For f = 1/2 ||x||^2 with its prox, sigma = L_f / L_g and tau sigma L_g = 0.99.

    With G_k = g(X_k) - g*, the prox inequality and convexity give, summed over the updates, k^2 G_k <= sum_{j<k} j G_j
    + ||x_0 - x*||^2 / (2 tau sigma) + k (f* - min f) / sigma; the largest sequence that satisfies it is O(log(k) / k).
    The o(1/k) of the paper is asymptotic.
    """
    sigma = p.L_f / p.L_g
    a, b = p.L_g * p.distance**2 / (2 * 0.99), p.f_star / sigma
    bound, total = np.empty(int(k[-1])), 0.0
    for j in range(1, int(k[-1]) + 1):
        largest = (total + a) / j + b
        bound[j - 1] = largest / j
        total += largest
    found: Vector = bound[k.astype(int) - 1]
    return found


def a_irg(p: RateProblem, k: Vector, level: str) -> Vector:
    """With steps gamma_j = gamma_0 (j+1)^-1/2, weights eta_j = eta_0 (j+1)^-1/4 of f, and the average with gamma_j^1/2.

    A projected step gives gamma_j (G_j + eta_j F_j) <= (D_j - D_{j+1}) / 2 + gamma_j^2 M_j^2 / 2 for the gaps of both
    levels, squared distances D_j from x*, and slopes of at most M_j. Multiplied by gamma_j^-1/2 (lower level, F_j is at
    least min f - f*) or by gamma_j^-1/2 / eta_j (upper level, G_j >= 0) and summed, that is a bound on the average.
    """
    Z = p.problem.domain
    eta_0 = 0.1 * p.L_g / p.L_f
    gamma_0 = 1 / (p.L_g + eta_0 * p.L_f)
    j = np.arange(1.0, k[-1] + 2)
    gamma, eta = gamma_0 * j**-0.5, eta_0 * j**-0.25
    slope_f, slope_g = (
        float(np.linalg.norm(o.grad(p.x_star))) + L * Z.diameter
        for o, L in ((p.problem.upper, p.L_f), (p.problem.lower, p.L_g))
    )
    M = slope_g + eta * slope_f
    scale = eta if level == "upper" else np.ones_like(eta)
    total = 0.5 * Z.diameter**2 * gamma**-0.5 / scale + 0.5 * np.cumsum(gamma**1.5 * M**2 / scale)
    if level == "lower":  # f >= 0 in both problems
        total += p.f_star * np.cumsum(gamma**0.5 * eta)
    bound: Vector = (total / np.cumsum(gamma**0.5))[k.astype(int)]
    return bound


def agm_bio_upper(p: RateProblem, k: Vector) -> Vector:
    """4 L_f ||x_0 - x*||^2 / (k (k + 1))."""
    bound: Vector = 4 * p.L_f * p.distance**2 / (k * (k + 1))
    return bound


def agm_bio_lower(p: RateProblem, k: Vector) -> Vector:
    """L_g D^2 (2 / (k + 1) + 4 log(k + 1) / (k (k + 1)))."""
    rate: Vector = 2 / (k + 1) + 4 * np.log(k + 1) / (k * (k + 1))
    return p.L_g * p.problem.domain.diameter**2 * rate


def fista(p: RateProblem, k: Vector, sigma: float) -> Vector:
    """2 L ||x_0 - x_sigma||^2 / (k + 1)^2 for g + sigma f, whose minimiser x_sigma is."""
    distance = float(np.linalg.norm(p.x0 - regularised(p, sigma)))
    bound: Vector = 2 * (p.L_g + sigma * p.L_f) * distance**2 / (k + 1) ** 2
    return bound


def regularised(p: RateProblem, sigma: float) -> Vector:
    """The minimiser of g + sigma f on ``smallest``, whose matrix is diagonal; it is smaller than x*, so inside Z."""
    squares = p.problem.lower.A.diagonal() ** 2  # type: ignore[attr-defined]
    x: Vector = squares / (squares + sigma) * p.x_star
    return x


def relaxed_value(p: RateProblem, slack: float) -> float:
    """The least f with g <= slack on ``smallest``: that of the regularised solution with g = slack."""
    from scipy.optimize import brentq

    log_sigma = brentq(lambda t: p.problem.lower.value(regularised(p, np.exp(t))) - slack, -40, 10, xtol=1e-13)
    return p.problem.upper.value(regularised(p, float(np.exp(log_sigma))))
