"""One instance for ``vjp.py``: how the problem is made from its data, and its answer by other means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tiebreak as tb

Name = tuple[int | str, str]


@dataclass(frozen=True)
class Case:
    """Attributes
    ----------
    make
        The problem, from arrays of floats.
    data
        Them, by the level (or "domain") and the name of their derivative.
    truth
        x from the same arrays in the numbers that ``exact`` makes of floats.
    signs
        What a datum is times, where the library has it with another sign.
    """

    family: str
    make: Callable[..., tb.Problem]
    data: Mapping[Name, np.ndarray]
    truth: Callable[..., Any]
    exact: Callable[[Any], Any]
    signs: Mapping[Name, float] = field(default_factory=dict)
