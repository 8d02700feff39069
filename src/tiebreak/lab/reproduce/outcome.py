"""What an experiment leaves: claims, differences, additions, panels, tables. Plain data; pages are made elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...arrays import Vector
from ..workshop import Workshop
from .evidence import Evidence

PUBLISHED = ", published"
Size = Literal["quick", "normal", "full"]


@dataclass(frozen=True)
class Option:
    """A flag of one experiment: ``--name`` on the command line, ``request.options["name"]`` in the run."""

    name: str
    help: str
    takes_value: bool = False


@dataclass(frozen=True)
class Request:
    """What the user asked for. ``full`` runs the paper's iteration counts; ``quick`` takes a few seconds."""

    workshop: Workshop
    size: Size = "normal"
    seed: int = 0
    data: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def pick(self, quick: int, normal: int, full: int) -> int:
        """The number that goes with the size."""
        return {"quick": quick, "normal": normal, "full": full}[self.size]


@dataclass(frozen=True, kw_only=True)
class Decided(ABC):
    """Something that was looked at: what was found, and the evidence, from which the verdict follows."""

    here: str
    evidence: Evidence
    note: str = ""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What is decided."""

    @property
    def holds(self) -> bool | None:
        """The verdict of the one rule; None where this run cannot decide."""
        return self.evidence.holds

    @property
    def why(self) -> str:
        """What the verdict rests on, and what else there is to say."""
        return "; ".join(part for part in (self.evidence.why, self.note) if part)


@dataclass(frozen=True, kw_only=True)
class Claim(Decided):
    """A sentence of the paper, quoted, with its place. Aims, settings and names of data are not claims."""

    quote: str
    where: str

    @property
    def sentence(self) -> str:
        """As it is quoted."""
        return self.quote


@dataclass(frozen=True, kw_only=True)
class Addition(Decided):
    """What this library says about the paper's problems and the paper does not; decided by the same rule."""

    statement: str

    @property
    def sentence(self) -> str:
        """As it is stated."""
        return self.statement


@dataclass(frozen=True)
class Difference:
    """Where the paper's text and its released code differ, or the text leaves open what the code does.

    ``file`` is in the released code, with the line; ``changes`` is what follows from it.
    """

    text: str
    code: str
    file: str
    changes: str


@dataclass(frozen=True)
class Curve:
    """One line: its values against each of the panel's horizontal axes ("updates", "seconds", ...).

    ``role`` "bound" is a line that no iterate may cross, "shape" a region or a set, "truth" a reference, "published" a
    curve of the paper's figure (labelled with the run it belongs to and ``PUBLISHED``).
    """

    label: str
    x: Mapping[str, Vector]
    y: Vector
    role: Literal["run", "bound", "shape", "truth", "published"] = "run"


@dataclass(frozen=True)
class Panel:
    """One picture. All its curves share the horizontal axes; ``log`` is how it opens, the reader may switch.

    ``window`` (left, right, bottom, top) is the part it opens at; None shows everything.
    """

    name: str
    title: str
    y_label: str
    curves: tuple[Curve, ...]
    log: bool = True
    log_x: bool = False
    equal_axes: bool = False
    caption: str = ""
    window: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of text or numbers under a header."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Outcome:
    """All that an experiment has to show; ``story`` is a few paragraphs that say what was run on which data."""

    name: str
    title: str
    story: tuple[str, ...]
    claims: tuple[Claim, ...]
    panels: tuple[Panel, ...]
    tables: tuple[Table, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    size: Size = "normal"
    differences: tuple[Difference, ...] = ()
    additions: tuple[Addition, ...] = ()
