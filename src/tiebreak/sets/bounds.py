"""Bounds of variables as users write them, checked."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..arrays import Matrix, Vector, as_scalar

Pair: TypeAlias = tuple[float | None, float | None]

PLAIN = (float, int, type(None))


def is_pair(bounds: Any) -> bool:
    """Whether it is one pair for all variables, not a pair of pairs."""
    if not hasattr(bounds, "__len__"):
        raise TypeError(f"bounds must be a pair (low, high) or a sequence of pairs, got {bounds!r}")
    return len(bounds) == 2 and all(end is None or np.ndim(end) == 0 for end in bounds)


def both_ends(bounds: Any, dim: int) -> tuple[Vector, Vector]:
    """The lower and the upper bounds of ``dim`` variables; infinite where None is given.

    Examples
    --------
    >>> both_ends([(0, 1.5), (None, 2)], 2)
    (array([  0., -inf]), array([1.5, 2. ]))
    >>> both_ends((0, None), 2)
    (array([0., 0.]), array([inf, inf]))
    """
    if bounds is None:
        bounds = (None, None)
    if is_pair(bounds):
        (low,), (high,) = _each([bounds], 1)
        return np.full(dim, low), np.full(dim, high)
    pairs = _at_once(bounds)
    if pairs is not None and pairs.shape == (dim, 2) and _proper(pairs):
        return pairs[:, 0].copy(), pairs[:, 1].copy()
    return _each(bounds, dim)


def _at_once(bounds: Any) -> Matrix | None:
    """The pairs as an array where all of them are of plain numbers or None; ``_proper`` is still to be asked."""
    if isinstance(bounds, np.ndarray):
        return bounds if bounds.dtype == np.float64 else None
    if not isinstance(bounds, list | tuple):
        return None
    if not all(type(pair) is tuple and len(pair) == 2 and _plain(pair[0]) and _plain(pair[1]) for pair in bounds):
        return None
    try:
        pairs = np.array(bounds, dtype=np.float64).reshape(-1, 2)  # None becomes NaN
    except OverflowError:
        return None
    low, high = ([pair[side] is None for pair in bounds] for side in (0, 1))
    pairs[low, 0], pairs[high, 1] = -np.inf, np.inf
    return pairs


def _plain(end: Any) -> bool:
    return isinstance(end, PLAIN) and not isinstance(end, bool)


def _proper(pairs: Matrix) -> bool:
    """Whether all pairs are numbers or infinite on their own side, the low one not above the high one."""
    low, high = pairs.T
    return bool((low <= high).all() and (low < np.inf).all() and (high > -np.inf).all())


def _each(pairs: Any, dim: int) -> tuple[Vector, Vector]:
    """Pair by pair, with a sentence about the first that is none."""
    if len(pairs) != dim:
        raise ValueError(f"bounds has {len(pairs)} pairs for {dim} variables; give one pair for each, or one for all")
    lower, upper = np.empty(dim), np.empty(dim)
    for j, pair in enumerate(pairs):
        if np.ndim(pair) != 1 or len(pair) != 2:
            raise ValueError(f"bounds[{j}] must be a pair (low, high), got {pair!r}")
        lower[j] = _end(pair[0], -np.inf, f"bounds[{j}][0]")
        upper[j] = _end(pair[1], np.inf, f"bounds[{j}][1]")
        if lower[j] > upper[j]:
            raise ValueError(f"bounds[{j}] has low {lower[j]:g} above high {upper[j]:g}")
    return lower, upper


def _end(value: Any, missing: float, name: str) -> float:
    """One end of a pair: a number, or the ``missing`` infinity, spelt None or as itself."""
    return missing if value is None or value == missing else as_scalar(value, name)
