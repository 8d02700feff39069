"""The one rule by which every claim is decided: margins over seeds, and what keeps a run from deciding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, isnan
from typing import Literal

SEEDS = 10
"""Fewer runs decide nothing about what usually happens."""

CONFIDENCE = 0.95

RULE = (
    "A claim is a sentence of the paper, quoted, with its place. It is decided at the paper's own protocol: its data, "
    "its iteration counts, equal seconds for all methods (processor seconds, so that a busy machine favours nobody). "
    f"What is said of runs is decided over {SEEDS} seeds or more, by the interval that holds the median margin with "
    "95 % confidence: it holds if the interval is above zero, does not hold if it is below, and is undecided where "
    "zero is inside. A theorem is tried on instances with known answers: one that breaks it refutes it. That something "
    "can happen is shown by one instance. Where the data are a stand-in or the run is short, the claim is undecided, "
    "whichever way the numbers point."
)

Kind = Literal["usually", "always", "sometimes"]


@dataclass(frozen=True)
class Evidence:
    """What was measured: one margin a seed (or an instance), positive where the sentence is true there.

    ``kind`` is what the sentence says: of runs as they usually end, of every instance, or that there is one.
    ``lacking`` names what this run has not of the paper's protocol; nothing is decided then.

    Examples
    --------
    >>> Evidence((0.5, 0.25), "always").holds, Evidence((0.5, -0.25), "always").holds
    (True, False)
    >>> Evidence((0.5,) * 10).holds, Evidence((0.5,) * 9).holds, Evidence((0.5,) * 10, lacking=("a stand-in",)).holds
    (True, None, None)
    """

    margins: tuple[float, ...]
    kind: Kind = "usually"
    lacking: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "margins", tuple(float(margin) for margin in self.margins))
        object.__setattr__(self, "lacking", tuple(text for text in self.lacking if text))

    @property
    def holds(self) -> bool | None:
        """The verdict; None where there is none."""
        if self.lacking or not self.margins or any(map(isnan, self.margins)):
            return None
        if self.kind == "always":
            return min(self.margins) >= 0
        if self.kind == "sometimes":
            return True if max(self.margins) > 0 else None
        if len(self.margins) < SEEDS:
            return None
        low, high = interval(self.margins)
        return True if low > 0 else False if high < 0 else None

    @property
    def why(self) -> str:
        """What the verdict rests on, or why there is none."""
        if self.lacking:
            return "; ".join(self.lacking)
        count = len(self.margins)
        if not count or any(map(isnan, self.margins)):
            return "nothing was measured"
        if self.kind == "always":
            broken = sum(margin < 0 for margin in self.margins)
            return f"broken by {broken} of {_instances(count)}" if broken else f"true of {_instances(count)}"
        true = sum(margin > 0 for margin in self.margins)
        if self.kind == "sometimes":
            return f"shown by {true} of {_instances(count)}"
        return f"true of {true} of {count} seeds" + (f", and {SEEDS} are wanted" if count < SEEDS else "")


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count} instances"


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Two of the values between which the median lies with 95 % confidence, whatever the distribution.

    The k-th smallest of n is above the median with the chance that fewer than k of n coins fall heads.

    Examples
    --------
    >>> interval(range(10))  # 97.9 %
    (1.0, 8.0)
    >>> interval([3, 1, 2])  # too few: the whole range
    (1.0, 3.0)
    """
    ordered = sorted(map(float, values))
    n, k, outside = len(ordered), 0, 0.0
    while True:
        outside += 2 * comb(n, k) / 2**n
        if outside > 1 - CONFIDENCE:
            break
        k += 1
    k = max(k, 1)
    return ordered[k - 1], ordered[n - k]


def less(ours: float, theirs: float) -> float:
    """How clearly the first number is below the second: their difference by their size, from -1 to 1.

    Examples
    --------
    >>> less(1.0, 3.0), less(3.0, 1.0), less(0.0, 0.0)
    (0.5, -0.5, 0.0)
    """
    if ours == theirs:
        return 0.0
    size = abs(ours) + abs(theirs)
    return (1.0 if theirs > ours else -1.0) if size == float("inf") else (theirs - ours) / size


def least(margins: Iterable[float]) -> float:
    """The margin of a sentence with several parts: that of the part which is nearest to failing."""
    return min(margins)
