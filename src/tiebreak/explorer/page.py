"""The page: data as JSON, one script, one style sheet, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ..arrays import Vector, as_count, as_positive
from ..disk import write_whole
from ..problem import Problem
from ..result import Result
from ..solve import Method
from .points import Explored, explored

MOST = 200
"""Entries of x that are kept: those that change most over the curve. The page shows forty of them."""
SCRIPTS = ("scale.js", "explore.js")


def explore(
    problem: Problem,
    path: str | Path = "explore.html",
    method: Method = "auto",
    *,
    slacks: Sequence[float] | Vector | None = None,
    points: int = 25,
    max_time: float | None = 60.0,
    title: str = "",
    **options: Any,
) -> Path:
    """Write a page on which the slack can be moved, to see x, f, g and their brackets change.

    The points of the curve are computed now; the page is one file that opens in any browser, without a network or a
    server. Between two points it shows the mix of both answers, for which convexity proves the values it gives.

    Parameters
    ----------
    problem : Problem
        Its own slack is ignored; of several lower levels, that of the last one is varied.
    path : path
        Where the page goes.
    method : str or solver
        As for ``solve``.
    slacks : sequence of float, optional
        The first points of the curve, as for ``tradeoff``, which chooses them by default.
    points : int, default 25
        How many there are in the end: more are added where the bracket between two is widest.
    max_time : float or None
        Most seconds for all of them, or little more; None for no limit.
    title : str
        What the page is called.
    **options
        Passed on to ``solve``.

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = tb.explore(problem, pathlib.Path(folder) / "curve.html", points=12)
    ...     page.name, "https://" in page.read_text()
    ('curve.html', False)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    limit = np.inf if max_time is None else as_positive(max_time, "max_time")
    found = explored(problem, method, slacks, as_count(points, "points"), limit, options)
    path = Path(path)
    text = page_of(found, title or "What lower-level loss buys")
    write_whole(path, lambda file: file.write(text.encode()))
    return path


def page_of(found: Explored, title: str) -> str:
    """The whole page."""
    script = "\n".join(map(shared, SCRIPTS))
    return Template(shared("page.html")).substitute(
        title=escape(title),
        problem=escape(repr(found.problem)),
        css=shared("colours.css") + shared("explore.css"),
        rows="\n".join(_row(*each) for each in _points(found)),
        data=embedded(_data(found)),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def embedded(value: Any) -> str:
    """JSON that can stand inside a script element: no tag can begin or end in it.

    Examples
    --------
    >>> embedded("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def shared(name: str) -> str:
    """A file of this folder, some of which the report page has, too."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _points(found: Explored) -> list[tuple[float, float, float, Result]]:
    """Slack, the bracket that all points together prove, and the run: the one without slack first."""
    curve, c = found.curve, found.strict.certificate
    return [
        (0.0, max(c.f_lower, float(curve.f_lower[0])), c.f_upper, found.strict),
        *zip(curve.slacks.tolist(), curve.f_lower.tolist(), curve.f_upper.tolist(), curve.results, strict=True),
    ]


def _row(slack: float, low: float, high: float, result: Result) -> str:
    cells = (
        f"{slack:.4g}",
        f"{result.f:.10g}",
        f"[{_rounded(low, ROUND_FLOOR)}, {_rounded(high, ROUND_CEILING)}]",
        f"{result.g:.10g}",
        f"{result.certificate.multiplier:.4g}" if slack else "",
        "yes" if result.success else "no",
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _rounded(value: float, to: str) -> str:
    """Ten digits, rounded outward: what is written is a bound, too."""
    return f"{Context(prec=10, rounding=to).create_decimal(value).normalize():g}" if np.isfinite(value) else str(value)


def _data(found: Explored) -> dict[str, Any]:
    points = _points(found)
    x = np.array([result.x for *_, result in points])
    chosen = np.sort(np.argsort(-np.ptp(x, axis=0), kind="stable")[:MOST])
    names = found.problem.names
    strict = found.strict.certificate
    return {
        "convex": found.problem.upper.convex,
        "g": [_number(strict.g_lower), _number(strict.g_upper)],
        "size": int(x.shape[1]),
        "names": [names[k] if names is not None else f"x[{k}]" for k in chosen.tolist()],
        "points": [
            {
                "slack": slack,
                "f": _number(result.f),
                "g": _number(result.g),
                "lower": _number(low),
                "upper": _number(high),
                "line": _number(result.certificate.f_lower) if slack else None,
                "price": _number(result.certificate.multiplier) if slack else None,
                "proved": result.success,
                "x": [_number(value) for value in result.x[chosen].tolist()],
            }
            for slack, low, high, result in points
        ],
    }


def _number(value: float) -> float | None:
    """All of its digits; None where it is not finite."""
    return float(value) if np.isfinite(value) else None
