"""The files of one or more outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ...disk import write_whole
from ..reproduce.outcome import Outcome
from .figures import write_figure
from .files import MARGINS, check, file_names, write_csv, write_json, write_margins
from .page import page
from .style import styles


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


@dataclass
class Report:
    """Outcomes as files in ``folder``/name, and one page for all of them in ``page_folder``, written anew with each.

    The same outcomes give the same bytes but for ``made``, the time.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> report = Report(Path(mkdtemp()))
    >>> report.add(Outcome("empty", "An experiment", ("Nothing was run.",), (), ()))
    >>> report.page.name
    'report.html'
    """

    folder: Path
    page_folder: Path | None = None
    made: str = field(default_factory=_now)
    outcomes: list[Outcome] = field(default_factory=list, init=False)
    failures: dict[str, str] = field(default_factory=dict, init=False)
    _pictures: dict[tuple[str, str], str] = field(default_factory=dict, init=False, repr=False)

    @property
    def page(self) -> Path:
        """Where the page is."""
        return (self.page_folder or self.folder) / "report.html"

    def add(self, outcome: Outcome) -> None:
        """Write the figures, curves and claims of an outcome, and the page with it."""
        names = file_names(outcome)
        for panel in outcome.panels:
            check(panel)
        place = self.folder / outcome.name
        place.mkdir(parents=True, exist_ok=True)
        looks = styles(outcome)
        for panel, name in zip(outcome.panels, names, strict=True):
            write_csv(panel, place / f"{name}.csv")
            self._pictures[outcome.name, name] = write_figure(panel, looks, place / name)
        write_margins(outcome, place / MARGINS)
        write_json(outcome, place / "outcome.json", self.made)
        self.outcomes.append(outcome)
        self._write_page()

    def fail(self, name: str, message: str) -> None:
        """An experiment did not run: the page says so."""
        self.failures[name] = message
        self._write_page()

    def _write_page(self) -> None:
        self.page.parent.mkdir(parents=True, exist_ok=True)
        folder = "" if self.folder == self.page.parent else "../"
        text = page(self.outcomes, self._pictures, self.failures, self.made, folder)
        write_whole(self.page, lambda file: file.write(text.encode("utf-8")))  # an interrupt leaves the page before
