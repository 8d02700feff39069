"""Objectives that are named or written on the command line: ``--then "max 2 x + 3 y"``."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from ..numerics.highs import ReadModel, read_model
from .errors import TOLD, hint
from .lp import mistakes_in

SENSE = re.compile(r"(min|max)(?:imi[sz]e)?:?\s+(.*)", re.IGNORECASE | re.DOTALL)
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
PIECE = re.compile(rf"{NUMBER}(?=[\s+\-*^/\]]|$)|[\[\]+\-*^/]|[^\s+\-*^/]+")
SHOWN = 60


class Function(NamedTuple):
    """1/2 x'Hx + <q, x> + constant; H is None where it is zero."""

    q: Vector
    H: Matrix | None
    constant: float


class Wanted(NamedTuple):
    """A further objective as it was asked for."""

    name: str
    function: Function
    sense: str  # "min", "max", or "" where nothing was said
    is_row: bool


class BadExpression(ValueError):
    """What is wrong with an objective, as sentences."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


def wanted(text: str, columns: Mapping[str, int], rows: Mapping[str, Function]) -> Wanted:
    """A row that bounds nothing, by its name, or an expression in the variables as an LP file would have it."""
    text = " ".join(text.split())
    match = SENSE.fullmatch(text)
    sense, body = (match[1].lower(), match[2]) if match else ("", text)
    name = body if len(body) <= SHOWN else body[: SHOWN - 3] + "..."
    if body in rows:
        if body in columns:
            raise BadExpression([f"{body} is an objective and a variable of the file; write 1 {body} for the variable"])
        return Wanted(name, rows[body], sense, True)
    return Wanted(name, _function(body, columns), sense, False)


def _function(body: str, columns: Mapping[str, int]) -> Function:
    """The expression, read by HiGHS under names that an LP file may have."""
    pieces, unknown = _aliased(body, columns)
    if unknown:
        raise BadExpression([f"there is no variable {one}; {hint(one, columns)}" for one in unknown[:TOLD]])
    names = list(columns)
    lp = f"minimize\n obj: {' '.join(pieces)}\nend\n"
    if wrong := mistakes_in(lp):
        raise BadExpression([re.sub(r"\bv(\d+)\b", lambda alias: names[int(alias[1])], one) for _, one in wrong])
    found = read_text(lp, ".lp")
    if isinstance(found, str) or found.complaints or found.rows:
        raise BadExpression([f"{body!r} is not an expression such as 2 x + 3 y + [ x^2 + 2 x * y ] / 2"])
    if not found.columns:
        raise BadExpression([f"{body!r} names no variable"])
    at = np.array([int(name[1:]) for name in found.columns])
    q, n = np.zeros(len(names)), len(names)
    q[at] = found.cost
    if not (np.isfinite(q).all() and np.isfinite(found.constant)):
        raise BadExpression([f"{body!r} has a number that is not finite"])
    if found.H is None:
        return Function(q, None, found.constant)
    H = sp.coo_array(found.H)
    return Function(q, sp.csr_array(sp.coo_array((H.data, (at[H.row], at[H.col])), shape=(n, n))), found.constant)


def _aliased(body: str, columns: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The pieces of an expression with v17 for the variable at 17, and the names that are none."""
    pieces: list[str] = []
    unknown: list[str] = []
    for word in body.split():
        if word in columns:  # as a whole: its name may have signs in it
            pieces.append(f"v{columns[word]}")
            continue
        for piece in PIECE.findall(word):
            pieces += _piece(piece, columns, unknown)
    return pieces, unknown


def _piece(piece: str, columns: Mapping[str, int], unknown: list[str]) -> list[str]:
    """A name, perhaps with a number before it and brackets around it; anything else as it is."""
    if piece in columns:
        return [f"v{columns[piece]}"]
    if re.fullmatch(rf"{NUMBER}|[\[\]+\-*^/]", piece):
        return [piece]
    if (match := re.fullmatch(rf"({NUMBER})(.+)", piece)) and match[2] in columns:
        return [match[1], f"v{columns[match[2]]}"]
    if piece.startswith("["):
        return ["[", *_piece(piece[1:], columns, unknown)]
    if piece.endswith("]"):
        return [*_piece(piece[:-1], columns, unknown), "]"]
    unknown.append(piece)
    return []


def read_text(text: str, suffix: str) -> ReadModel | str:
    """What HiGHS reads in a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{suffix}"
        path.write_text(text, encoding="utf-8", newline="\n")
        return read_model(path)
