"""docs/path-of-a-problem.md as a test: its hops are the calls of real solves, in that order and one below the other."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.files.command import solve_file

ROOT = Path(__file__).resolve().parent.parent
SOURCE = str(ROOT / "src" / "tiebreak") + "/"
PAGE = (ROOT / "docs" / "path-of-a-problem.md").read_text()
LISTS = [block.splitlines() for block in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)]

QUESTIONS = {"columns_apply", "rows_apply", "why_not_lifted", "vertices_pay", "choose_engine"}
"""Who asks whether an engine or a reduction applies."""


class Calls:
    """The calls of a run, as a tree in the order in which they begin."""

    def __init__(self, run: Callable[[], object]) -> None:
        self.found: list[tuple[int, str]] = []
        self.questions: list[tuple[str, bool]] = []
        self.depth = 0
        sys.setprofile(self._look)
        try:
            run()
        finally:
            sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(SOURCE):
            return
        if event == "return":
            self.depth -= 1
            return
        name = file.removeprefix(SOURCE).removesuffix(".py") + ":" + frame.f_code.co_qualname
        self.found.append((self.depth, name))
        if frame.f_code.co_name in QUESTIONS:  # of a chain is another question
            self.questions.append((name, frame.f_locals.get("chain", False)))
        self.depth += 1

    def holds(self, hops: list[tuple[int, str]], start: int = 0, above: int = -1) -> bool:
        """Whether the hops occur in this order, each somewhere below the one it is indented under."""
        if not hops:
            return True
        (indent, name), rest = hops[0], hops[1:]
        inside = next((i for i, (other, _) in enumerate(rest) if other <= indent), len(rest))
        for i in range(start, len(self.found)):
            depth, called = self.found[i]
            if depth <= above and i > start:
                return False
            if called != name:
                continue
            end = next((j for j in range(i + 1, len(self.found)) if self.found[j][0] <= depth), len(self.found))
            below = Calls.__new__(Calls)
            below.found = self.found[i + 1 : end]
            if below.holds(rest[:inside]) and self.holds(rest[inside:], i + 1, above):
                return True
        return False


def problem(domain: tb.Domain) -> tb.Problem:
    rng = np.random.default_rng(3)
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(rng.normal(size=(5, 12)), rng.normal(size=5)), domain)


def known_by_value() -> tb.Problem:
    distance = tb.Function(lambda x: 0.5 * float(x @ x), lambda x: x, dim=12, convex=True, smoothness=1.0)
    return tb.Problem(distance, problem(tb.L2Ball(1.0)).lower, tb.L2Ball(1.0))


RUNS: dict[str, Callable[[], object]] = {
    "shared": lambda: tb.solve(problem(tb.Box(-1.0, 1.0))),
    "columns": lambda: tb.solve(problem(tb.L1Ball(1.0))),
    "rows": lambda: tb.solve(problem(tb.Box(-0.01, 0.01))),  # it binds
    "method": lambda: tb.solve(known_by_value(), max_iter=20),
    "chain": lambda: tb.lexicographic(
        [problem(tb.Box(-1.0, 1.0)).lower, tb.Linear(np.ones(12)), tb.SquaredNorm()], tb.Box(-1.0, 1.0)
    ),
}


def hops(lines: list[str]) -> list[tuple[int, str]]:
    return [((len(line) - len(line.lstrip())) // 2, line.split()[0]) for line in lines]


@pytest.mark.parametrize(("kind", "lines"), list(zip(RUNS, LISTS, strict=False)), ids=list(RUNS))
def test_a_problem_goes_this_way(kind: str, lines: list[str]) -> None:
    assert Calls(RUNS[kind]).holds(hops(lines))


def test_a_file_goes_this_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(ROOT / "examples" / "toy.toml")
    assert Calls(lambda: solve_file(file, str(tmp_path / "toy"))).holds(hops(LISTS[len(RUNS)]))
    assert "written to" in capsys.readouterr().out


@pytest.mark.parametrize("kind", RUNS)
def test_every_question_is_asked_at_most_once(kind: str) -> None:
    asked = Calls(RUNS[kind]).questions
    assert len(asked) == len(set(asked)) and asked
