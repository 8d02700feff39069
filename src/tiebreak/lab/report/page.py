"""One page for one or more outcomes: everything inline, nothing asked of a network.

The template is Jinja's with escaping switched on for everything: text from data is safe unless a line here says
``Markup``, and only this package's own style sheet, scripts, and what `embedded` has escaped do.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from ...arrays import Vector
from ...explorer.page import embedded, shared
from ..reproduce.evidence import RULE
from ..reproduce.outcome import Decided, Outcome, Panel
from .files import MARGINS, axes_of, file_names, plain, versions
from .style import COLORS, Style, styles

SCRIPTS = ("marks.js", "chart.js", "controls.js", "page.js")
VERDICTS = {True: ("holds", "✓", "holds"), False: ("fails", "✗", "does not hold"), None: ("open", "?", "undecided")}
"""Of a claim: class on the page, sign, words."""


def page(
    outcomes: Sequence[Outcome],
    pictures: Mapping[tuple[str, str], str],
    failures: Mapping[str, str],
    made: str,
    folder: str = "",
) -> str:
    """The page; ``pictures`` are the SVGs by experiment and panel, shown in print and without scripts.

    ``folder`` leads from the page to the folders of the experiments.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("the page needs jinja2: pip install 'tiebreak[report]'") from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"cell": cell, "unbroken": unbroken}
    script = "\n".join([shared("scale.js"), *map(_own, SCRIPTS)])
    content = {
        "outcomes": [_shown(outcome, pictures) for outcome in outcomes],
        "failures": failures,
        "verdicts": VERDICTS,
        "tally": tally([claim for outcome in outcomes for claim in outcome.claims]),
        "added": tally([addition for outcome in outcomes for addition in outcome.additions]),
        "differences": sum(len(outcome.differences) for outcome in outcomes),
        "rule": RULE,
        "versions": versions(),
        "made": made,
        "folder": folder,
        "margins": MARGINS,
        "css": Markup(_colors() + shared("colours.css") + _own("page.css")),
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "curves": Markup(embedded([_curves(outcome) for outcome in outcomes])),
    }
    return environment.from_string(_own("page.html")).render(content)


def tally(found: Sequence[Decided]) -> dict[str, int]:
    """How many hold, fail, stay open."""
    verdicts = [one.holds for one in found]
    return {"hold": verdicts.count(True), "do not hold": verdicts.count(False), "undecided": verdicts.count(None)}


def cell(value: str | float) -> str:
    """A table cell."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def unbroken(text: str) -> str:
    """The text with its numbers and flags kept whole: a browser breaks a line after a hyphen."""
    from markupsafe import Markup

    parts = re.split(r"(\S*\de-\d\S*|--\w\S*)", text)  # every other one matched
    wrap = Markup('<span class="nb">{}</span>')
    return Markup("").join(wrap.format(part) if i % 2 else part for i, part in enumerate(parts))


def _shown(outcome: Outcome, pictures: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """What the template needs of an outcome."""
    panels = []
    for panel, name in zip(outcome.panels, file_names(outcome), strict=True):
        encoded = base64.b64encode(pictures[outcome.name, name].encode()).decode()
        panels.append({"panel": panel, "name": name, "picture": f"data:image/svg+xml;base64,{encoded}"})
    parameters = json.dumps(plain(outcome.parameters), indent=1, ensure_ascii=False)
    return {
        "it": outcome,
        "panels": panels,
        "parameters": parameters,
        "tally": tally(outcome.claims),
        "added": tally(outcome.additions),
    }


def _curves(outcome: Outcome) -> dict[str, Any]:
    looks = styles(outcome)
    return {
        "name": outcome.name,
        "panels": [_panel(panel, name, looks) for panel, name in zip(outcome.panels, file_names(outcome), strict=True)],
    }


def _panel(panel: Panel, name: str, looks: Mapping[tuple[str, str], Style]) -> dict[str, Any]:
    curves = []
    for curve in panel.curves:
        style = looks[curve.role, curve.label]
        curves.append(
            {
                "label": curve.label,
                "role": curve.role,
                "color": "ink" if style.color is None else f"k{style.color}",
                "dash": style.dash,
                "marker": style.marker,
                "width": style.width,
                "faint": style.faint,
                "x": {axis: _numbers(places) for axis, places in curve.x.items()},
                "y": _numbers(curve.y),
            }
        )
    return {
        "name": name,
        "title": panel.title,
        "yLabel": panel.y_label,
        "log": panel.log,
        "logX": panel.log_x,
        "equal": panel.equal_axes,
        "window": panel.window,
        "axes": axes_of(panel),
        "curves": curves,
    }


def _numbers(values: Vector) -> list[float | None]:
    """Nine digits, which no screen shows all of; null where there is no number. The CSV files have every digit."""
    return [float(f"{value:.9g}") if np.isfinite(value) else None for value in np.asarray(values, float).tolist()]


def _colors() -> str:
    """The colours of the runs as classes, each with its light and its dark value."""
    return "".join(f".k{i}{{--c:light-dark({light},{dark})}}" for i, (light, dark) in enumerate(COLORS)) + "\n"


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
