"""Cones by name, as conic solvers call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays import as_scalar
from .cones import Cone, Nonnegative, SecondOrder, Semidefinite
from .unsymmetric_cones import Exponential, Power

KINDS = ("zero", "nonnegative", "second-order", "semidefinite", "triangle", "exponential", "power")


def cone_of(kind: str, size: float) -> Cone | None:
    """The cone of this name; None for that of zero alone."""
    if kind == "zero":
        return None
    if kind == "power":
        return Power(size)
    if kind == "exponential":
        return Exponential()
    if kind in ("semidefinite", "triangle"):
        return Semidefinite(int(size), kind == "semidefinite")
    return SecondOrder(int(size)) if kind == "second-order" else Nonnegative(int(size))


def as_cones(cones: Any) -> tuple[tuple[str, float], ...]:
    """Pairs of kind and size, checked; those of size zero are left out."""
    if isinstance(cones, (str, bytes)) or not isinstance(cones, Sequence):
        raise TypeError(f"cones must be a sequence of pairs (kind, size), got {cones!r}")
    made = []
    for k, pair in enumerate(cones):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise TypeError(f"cones[{k}] must be a pair (kind, size), got {pair!r}")
        kind, size = pair[0], as_scalar(pair[1], f"cones[{k}][1]")
        if kind not in KINDS:
            raise ValueError(f"cones[{k}] has the kind {kind!r}, which is none of {', '.join(KINDS)}")
        if kind == "power":
            if not 0 < size < 1:
                raise ValueError(f"cones[{k}]: the exponent of a power cone must be between 0 and 1, got {size:g}")
        elif size != int(size) or size < 0 or (kind == "exponential" and size != 3):
            expected = "3" if kind == "exponential" else "a count"
            raise ValueError(f"cones[{k}]: the size of the {kind} cone must be {expected}, got {size:g}")
        if size:
            made.append((str(kind), float(size)))
    if not made:
        raise ValueError("cones is empty: give a pair (kind, size) for the rows of A")
    return tuple(made)
