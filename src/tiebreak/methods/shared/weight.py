"""What StaBiM and AdaBiM share: the weight sigma_k of f in g + sigma_k f."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import State


@dataclass(frozen=True, kw_only=True)
class WeightState(State):
    """sigma_k, counted in units (L_g / L_f) that make it independent of those of f and g."""

    sigma: float
    unit: float


def next_weight(sigma: float, k: int) -> float:
    """sigma_{k} from sigma_{k-1}: towards 1/k, falling by at most a quarter."""
    return min(max(1 / k, 0.75 * sigma), sigma)
