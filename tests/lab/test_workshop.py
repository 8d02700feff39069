"""Pieces are made once, kept whole, made again when anything that decides them has changed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pieces import count, interrupted, slow, where

from tiebreak import Event
from tiebreak.lab.experiments import toy
from tiebreak.lab.reproduce.solving import solve
from tiebreak.lab.workshop import Piece, Workshop


def calls(folder: Path) -> int:
    return len(list(folder.glob("called-*")))


def test_a_piece_is_made_once(tmp_path: Path) -> None:
    piece = Piece("squares", count, {"folder": tmp_path, "n": 3})
    for _ in range(2):
        made = Workshop(tmp_path / "kept").make([piece])["squares"]
        assert made["square"].tolist() == [0, 1, 4]
        assert made["n"] == 3
    assert calls(tmp_path) == 1
    Workshop(tmp_path / "kept").make([Piece("squares", count, {"folder": tmp_path, "n": 4})])
    assert calls(tmp_path) == 2


def pressed(event: Event) -> None:
    raise KeyboardInterrupt


def solved_toy() -> dict[str, Any]:
    return {"x": solve(toy.problem(), "cg-bio-anytime", callback=pressed).x}


def test_a_piece_with_an_interrupted_solve_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a prompt, where solve itself would return what it has, too."""
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with pytest.raises(KeyboardInterrupt):
        Workshop(tmp_path / "kept").make([Piece("toy", solved_toy)])
    assert not list((tmp_path / "kept").iterdir())


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    arguments = {"folder": tmp_path, "n": 3}
    pieces = [Piece("first", count, arguments), Piece("second", interrupted, arguments)]
    with pytest.raises(KeyboardInterrupt):
        Workshop(tmp_path / "kept").make(pieces)
    told: list[tuple[int, int, str]] = []
    later = Workshop(tmp_path / "kept", tell=lambda done, all_, name, seconds: told.append((done, all_, name)))
    later.make([pieces[0], Piece("second", count, arguments)])
    assert calls(tmp_path) == 2
    assert told == [(2, 2, "second")]


def test_a_broken_file_is_made_again(tmp_path: Path) -> None:
    piece = Piece("squares", count, {"folder": tmp_path, "n": 3})
    Workshop(tmp_path / "kept").make([piece])
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_bytes(kept.read_bytes()[:40])
    assert Workshop(tmp_path / "kept").make([piece])["squares"]["n"] == 3
    assert calls(tmp_path) == 2


def test_a_piece_is_made_again_when_its_code_has_changed(tmp_path: Path) -> None:
    for code in ("one", "one", "two"):
        Workshop(tmp_path / "kept").make([Piece("squares", count, {"folder": tmp_path, "n": 3}, code)])
    assert calls(tmp_path) == 2


def test_apart_is_never_in_this_process(tmp_path: Path) -> None:
    made = Workshop(tmp_path, apart=True).make([Piece("where", where)])["where"]
    assert made["process"] != os.getpid() and str(made["threads"]) == "1"


def test_two_at_a_time(tmp_path: Path) -> None:
    pieces = [Piece(f"squares {n}", count, {"folder": tmp_path, "n": n}) for n in range(4)]
    made = Workshop(tmp_path / "kept", jobs=2).make(pieces)
    assert [int(made[f"squares {n}"]["n"]) for n in range(4)] == [0, 1, 2, 3]


def test_names_must_differ(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="different names"):
        Workshop(tmp_path).make([Piece("a", count), Piece("a", count)])


def test_an_interrupt_does_not_wait_for_what_is_running(tmp_path: Path) -> None:
    def interrupt(done: int, of: int, name: str, seconds: float) -> None:
        raise KeyboardInterrupt

    pieces = [Piece("short", slow, {"seconds": 0.0}), Piece("long", slow, {"seconds": 60.0})]
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Workshop(tmp_path, jobs=2, tell=interrupt).make(pieces)
    assert time.monotonic() - started < 30
    assert [path.name.partition("-")[0] for path in tmp_path.glob("*.npz")] == ["short"]


def test_a_name_need_not_be_a_file_name(tmp_path: Path) -> None:
    piece = Piece("../from (1/2, 1/2)", count, {"folder": tmp_path, "n": 2})
    for _ in range(2):
        assert Workshop(tmp_path / "kept").make([piece])[piece.name]["n"] == 2
    assert calls(tmp_path) == 1
    assert len(list((tmp_path / "kept").iterdir())) == 1
