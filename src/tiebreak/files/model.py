"""Models in MPS and LP files, with several objectives: HiGHS reads them, after a look at what it passes over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import as_path
from ..numerics.failures import EmptySet
from ..numerics.highs import ReadModel
from ..numerics.rows import Rows
from ..objectives import Objective
from ..objectives.simplest import simplest
from ..problem import Problem
from ..sets import Box, Domain, Polyhedron
from . import lp, mps
from .errors import FileProblem, ModelProblem
from .expression import BadExpression, Function, Wanted, read_text, wanted
from .model_text import text_of_model
from .mps import Mistake
from .task import FAILURES, Task, Written, default_limits, words_of

NAMED = 5
"""So many variables are named in a sentence."""


@dataclass(frozen=True)
class ModelTask(Task):
    """A task whose file has no keys."""

    def failed(self, error: Exception) -> FileProblem:
        return FileProblem(self.file, 0, "", words_of(error))


def read_model_file(file: str | Path, then: Sequence[str] | None = None, output: str | Path | None = None) -> ModelTask:
    """Read a model from an MPS or LP file, and further objectives over its solutions.

    Parameters
    ----------
    file : path
        The model: linear rows, continuous variables, a linear or convex quadratic objective, which is the first level.
    then : sequence of str, optional
        The further objectives, the most important first: names of rows that bound nothing (further rows of type N), or
        expressions such as ``"2 x + 3 y"``, each perhaps after ``min`` or ``max``. By default the further rows of
        type N, in their order and in the sense of the file.
    output : path, optional
        Where the answer goes.

    Raises
    ------
    ModelProblem
        With all that is wrong, and the lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tiebreak.files import read_model_file
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plan.lp"
    >>> _ = file.write_text("minimize cost: 3 a + 3 b\\nsubject to served: a + b >= 6\\nbounds a <= 4\\nend")
    >>> read_model_file(file, then=["min b"]).run().named
    {'a': 4.0, 'b': 2.0}
    """
    file = as_path(file, "file")
    text = text_of_model(file)
    asked = None if then is None else [str(one) for one in then]
    reader = _Reader(file, text, asked)
    mistakes = reader.look()
    if mistakes:
        raise ModelProblem(file, mistakes)
    problem = reader.problem()
    written = reader.written()
    spec = {
        "model": file.name,
        "objectives": [{"name": one.name, "sense": "max" if one.maximise else "min"} for one in written],
    }
    return ModelTask(
        file=file,
        text="",
        spec=spec,
        problem=problem,
        limits=default_limits(),
        output=file.with_suffix(".result") if output is None else Path(output),
        data_files=frozenset({file.resolve()}),
        objectives=written,
    )


class _Reader:
    """What a model file says, and what is wrong with it."""

    def __init__(self, file: Path, text: str, then: list[str] | None) -> None:
        self.file, self.text, self.then = file, text, then
        self.found: Any = None
        self.extra: dict[str, Function] = {}
        self.wanted: list[Wanted] = []
        self.first = "objective"
        self.maximise = False

    def look(self) -> list[Mistake]:
        """Read it; all mistakes."""
        if self.file.suffix.lower() == ".mps":
            scan = mps.scan(self.text)
            names, mistakes, self.maximise = list(scan.columns), list(scan.mistakes), scan.maximise
            self.extra = dict.fromkeys(scan.objectives[1:], Function(np.zeros(0), None, 0.0))
            if not mistakes:
                self.first = scan.objectives[0]
                mistakes += self._read("\n".join(scan.lines) + "\n", ".mps", scan.objectives[1:])
                mistakes += _other_than(scan, self.found)
        else:
            mistakes = lp.mistakes_in(self.text)
            self.first = lp.name_of_objective(self.text) or self.first
            mistakes += self._read(self.text, ".lp", None)
            names = list(self.found.columns) if self.found else []
        if names:
            mistakes += self._further(dict(zip(names, range(len(names)), strict=True)))
        return mistakes

    def _read(self, text: str, suffix: str, objectives: list[str] | None) -> list[Mistake]:
        found = read_text(text, suffix)
        if isinstance(found, str):
            if not found and suffix == ".lp":
                return [] if lp.mistakes_in(text) else [_first_unread(text)]
            return [(0, found or "HiGHS does not take it, and does not say why")]
        self.found, self.maximise = found, found.maximise
        wrong = [(0, one) for one in found.complaints]
        if not found.columns:
            self.found = None
            what = "two variables have the same name" if found.cost.size else "there are no variables"
            return [*wrong, (0, what)]
        wrong += _refused(found)
        free = [i for i, name in enumerate(found.rows) if name in objectives] if objectives is not None else None
        if free is None:
            free = list(np.flatnonzero(np.isinf(found.low) & np.isinf(found.high)))
        for i in free:
            self.extra[found.rows[i]] = Function(found.A[[i]].toarray()[0], None, -_finite(found.low[i]))
        keep = np.setdiff1d(np.arange(found.low.size), free)
        self.found = found._replace(A=found.A[keep], low=found.low[keep], high=found.high[keep])
        return wrong

    def _further(self, columns: dict[str, int]) -> list[Mistake]:
        """The objectives after the first, by name or as expressions."""
        wrong: list[Mistake] = []
        for k, text in enumerate(self.extra if self.then is None else self.then, 1):
            try:
                one = wanted(text, columns, self.extra)
            except BadExpression as error:
                wrong += [(0, f"--then {k}: {sentence}") for sentence in error.sentences]
                continue
            if not one.sense and self.maximise and not one.is_row:
                wrong.append((0, f"--then {k}: the file maximises; say which way: 'max {text}' or 'min {text}'"))
            self.wanted.append(one)
        return wrong

    def written(self) -> tuple[Written, ...]:
        """The objectives as the file and the command state them."""
        further = (Written(one.name, self._maximised(one)) for one in self.wanted)
        return (Written(self.first, self.maximise), *further)

    def _maximised(self, one: Wanted) -> bool:
        return one.sense == "max" if one.sense else self.maximise

    def problem(self) -> Problem:
        """The levels, all minimised, over rows and bounds; those that are not convex are told together."""
        found = self.found
        functions = [Function(found.cost, found.H, found.constant), *(one.function for one in self.wanted)]
        wrong: list[Mistake] = []
        levels: list[Objective] = []
        for function, one in zip(functions, self.written(), strict=True):
            sign = -1.0 if one.maximise else 1.0
            H = None if function.H is None else sign * function.H
            levels.append(simplest(H, sign * function.q + 0.0, sign * function.constant + 0.0))
            if not levels[-1].convex:
                what = "maximised and is not concave" if one.maximise else "minimised and is not convex"
                wrong.append((0, f"{one.name} is {what}, and every bound rests on that"))
        try:
            domain = _domain(found)
        except EmptySet as error:
            wrong.append((0, f"the model is infeasible: {error}"))
        except FAILURES as error:
            wrong.append((0, words_of(error)))
        if wrong:
            raise ModelProblem(self.file, wrong)
        return Problem(levels[-1], levels[:-1], domain, names=found.columns)


def _refused(found: ReadModel) -> list[Mistake]:
    """What HiGHS takes and tiebreak does not."""
    wrong: list[Mistake] = []
    if found.not_continuous:
        names = _some([found.columns[j] for j in found.not_continuous])
        wrong.append(
            (
                0,
                f"variables that are not continuous: {names}; tiebreak proves its answers by convexity: relax them to "
                "bounds, or fix them at the values of a first solve",
            )
        )
    crossed = np.flatnonzero(~(found.lower <= found.upper))
    if crossed.size:
        wrong.append((0, f"bounds contradict each other: {_some([found.columns[j] for j in crossed])}"))
    numbers = [found.A.data, found.cost, [found.constant], [] if found.H is None else found.H.data]
    if not np.isfinite(np.concatenate(numbers)).all() or np.isnan([*found.low, *found.high]).any():
        wrong.append((0, "it has numbers that are not finite"))
    return wrong


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else 0.0


def _other_than(scan: mps.Scan, found: Any) -> list[Mistake]:
    """A last check that HiGHS has read the same file."""
    if found is None:
        return []
    rows = [name for name in scan.rows if name != scan.objectives[0]]
    same = list(found.columns) == list(scan.columns) and list(found.rows) == rows and found.maximise == scan.maximise
    return [] if same else [(0, "HiGHS reads other rows and columns than the file seems to have")]


def _first_unread(text: str) -> Mistake:
    """The line from which on HiGHS no longer takes an LP file, about: it does not say so itself."""
    lines = text.split("\n")
    reads, fails = 0, len(lines)
    while fails - reads > 1:
        middle = (reads + fails) // 2
        part = read_text("\n".join(lines[:middle]) + "\nend\n", ".lp")
        reads, fails = (reads, middle) if isinstance(part, str) else (middle, fails)
    return fails, f"HiGHS's reader does not take this line, or what it belongs to: {lines[fails - 1].strip()[:60]!r}"


def _domain(found: ReadModel) -> Domain:
    """Rows and bounds; rows without variables hold, or show that there is no point."""
    blank = np.diff(found.A.indptr) == 0
    if ((found.low > 0) | (found.high < 0))[blank].any():
        raise EmptySet("a row without variables does not hold")
    if blank.all():
        return Box(found.lower, found.upper)
    some = np.flatnonzero(~blank)
    return Polyhedron.of(Rows(sp.csr_array(found.A[some]), found.low[some], found.high[some], found.lower, found.upper))
