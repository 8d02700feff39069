"""An experiment of four pieces, each of which leaves a mark in the folder that ``--marks`` names."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.lab.reproduce.evidence import Evidence
from tiebreak.lab.reproduce.outcome import Claim, Curve, Option, Outcome, Panel, Request
from tiebreak.lab.workshop import Piece

TITLE = "Slow"
OPTIONS = (Option("marks", "where marks go", takes_value=True), Option("long_wait", "the third piece takes a minute"))


def piece(n: int, marks: str, seconds: float) -> dict[str, Any]:
    (Path(marks) / f"begun-{n}-{time.time_ns()}").touch()
    time.sleep(seconds)
    return {"n": n}


def run(request: Request) -> Outcome:
    wait = 60.0 if request.options["long_wait"] else 0.0
    # The long wait is not among the arguments that decide a piece: a later run without it finds the others.
    pieces = [Piece(f"piece {n}", piece, {"n": n, "marks": request.options["marks"], "seconds": 0.0}) for n in range(4)]
    if wait:
        pieces[2] = Piece("piece 2", piece, {"n": 2, "marks": request.options["marks"], "seconds": wait})
    made = request.workshop.make(pieces)
    values = np.array([float(made[f"piece {n}"]["n"]) for n in range(4)])
    claims = (
        Claim(
            quote="There are four",
            where="?",
            here=str(len(made)),
            evidence=Evidence((0.5 - abs(len(made) - 4),), "always"),
        ),
        Claim(quote="Unknown", where="?", here="?", evidence=Evidence((), lacking=("why not",))),
    )
    panel = Panel("values", "Values", "n", (Curve("n", {"k": np.arange(4.0)}, values),), log=False)
    parameters = {"size": request.size, "data": request.data}
    return Outcome("slow", TITLE, (), claims, (panel,), parameters=parameters, seed=request.seed, size=request.size)
