"""A problem file as a whole: what to solve, how, and where the answer goes."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import as_count, as_positive, as_vector
from ..objectives import Objective
from ..problem import Problem
from ..result import Result
from ..solve import Method, iterate, solve
from ..tradeoff import Tradeoff, tradeoff
from .build import CHAIN_KEYS, FILE_KEYS, PROBLEM_KEYS, RUN_KEYS, Builder, Spec, blamed
from .catalogue import parameters
from .data import Data
from .errors import Collected, FileProblem, KeyProblem, suggestion
from .locate import KeyPath

FAILURES = (ValueError, TypeError, ArithmeticError, RuntimeError, MemoryError)
"""What a run may end with for the reason of what it was given."""

Outcome = Result | Tradeoff

DEEPEST = 64
"""Tables, lists and dotted keys are not nested deeper than this."""

LIMITS = {"max_iter": as_count, **dict.fromkeys(("max_time", "tol_upper", "tol_lower"), as_positive)}


class Written(NamedTuple):
    """An objective as a model states it."""

    name: str
    maximise: bool


class Options(NamedTuple):
    """What a command says of slack and time: it goes before what a file says. One slack for each level but the last."""

    slack: tuple[float, ...] = ()
    relative_slack: tuple[float, ...] = ()
    max_time: float | None = None


@dataclass(frozen=True)
class Task:
    """What a problem file asks for.

    Attributes
    ----------
    file : Path
        The problem file.
    spec : dict
        What it says, as ``tomllib`` reads it.
    problem : Problem
        The problem.
    slacks : array or None
        Where the file has them, ``run`` traces the trade-off curve.
    method, x0, limits
        As for ``tiebreak.solve``.
    output : Path
        Where the answer goes, without the endings .json and .npz.
    data_files : frozenset of Path
        The files that were read.
    objectives : tuple of Written
        Of a model: its objectives by name, and which of them are maximised.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tiebreak.files import read_task
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "small.toml"
    >>> text = 'upper = "SquaredNorm"\\nlower = {type = "LeastSquares", A = [[1, 1]], b = [1]}\\n'
    >>> _ = file.write_text(text + 'domain = {type = "L1Ball", radius = 2}')
    >>> task = read_task(file)
    >>> task.problem.dim, task.method, task.output.name
    (2, 'auto', 'small.result')
    """

    file: Path
    text: str = field(repr=False)
    spec: Spec
    problem: Problem
    slacks: Any = None
    method: Method = "auto"
    x0: Any = None
    limits: dict[str, Any] = field(default_factory=dict)
    output: Path = Path()
    data_files: frozenset[Path] = frozenset()
    objectives: tuple[Written, ...] = ()

    def with_options(self, options: Options) -> Task:
        """The same with what the command says instead of the file."""
        limits, spec, problem, slacks = dict(self.limits), dict(self.spec), self.problem, self.slacks
        try:
            if options.max_time is not None:
                limits["max_time"] = None if options.max_time == np.inf else options.max_time
                if limits["max_time"] is not None:
                    as_positive(options.max_time, "max_time")
            if options.slack or options.relative_slack:
                if len(problem.levels) == 1:
                    raise ValueError("there is one objective only, so that no slack has a say")
                none = [0.0] * (len(problem.levels) - 1)
                problem = Problem(
                    problem.upper,
                    problem.levels[:-1],
                    problem.domain,
                    slack=list(options.slack) or none,
                    error_bound=problem.error_bound,
                    relative_slack=list(options.relative_slack) or none,
                    names=problem.names,
                )
                spec = {key: value for key, value in spec.items() if key not in ("slack", "relative_slack", "slacks")}
                said = {"slack": list(options.slack), "relative_slack": list(options.relative_slack)}
                spec |= {key: value for key, value in said.items() if value}
                slacks = None
        except (ValueError, TypeError) as error:
            raise FileProblem(self.file, 0, "", f"on the command line: {error}") from None
        return replace(self, limits=limits, spec=spec, problem=problem, slacks=slacks)

    def run(self, verbose: bool = False) -> Outcome:
        """Solve it."""
        try:
            options = {**self.limits, "x0": self.x0, "verbose": verbose or self.limits["verbose"]}
            if self.slacks is not None:
                return tradeoff(self.problem, self.slacks, self.method, **options)
            return solve(self.problem, self.method, **options)
        except FAILURES as error:
            raise self.failed(error) from error

    def check(self) -> None:
        """Find what is wrong with method, tolerances and start without running anything."""
        options = {key: value for key, value in self.limits.items() if key in parameters(iterate)}
        try:
            iterate(self.problem, self.method, x0=self.x0, **options)
        except FAILURES as error:
            raise self.failed(error) from error

    def failed(self, error: Exception) -> FileProblem:
        """What a run ended with, as something wrong with the file."""
        return FileProblem.at_key(self.file, self.text, KeyProblem(self._blame(error), words_of(error)))

    def _blame(self, error: Exception) -> KeyPath:
        for table in ((), ("limits",)):
            keys = self.limits if table else [key for key in self.spec if key != "limits"]
            if found := blamed(str(error), list(keys)):
                return (*table, *found)
        return ("method",) if "method" in self.spec or "levels" not in self.spec else ("levels",)


def read_task(file: str | Path, output: str | Path | None = None) -> Task:
    """Read a problem file and the data it names; everything in it is checked.

    Parameters
    ----------
    file : path
        The problem file.
    output : path, optional
        Where the answer goes, whatever the file says: only you, not the file, may choose another folder than its own.

    Raises
    ------
    FileProblem
        With the key and the line of what is wrong.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tiebreak.files import read_task
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "small.toml"
    >>> text = 'upper = "SquaredNorm"\\nlower = {type = "LeastSquares", A = [[1, 1]], b = [1]}\\n'
    >>> _ = file.write_text(text + 'domain = {type = "L1Ball", radius = 2}')
    >>> read_task(file).run().x.round(6)
    array([0.5, 0.5])
    """
    file = Path(file)
    text, spec = _parsed(file)
    try:
        return _Reader(file, text, spec).task(output)
    except KeyProblem as problem:
        raise FileProblem.at_key(file, text, problem) from problem.__cause__
    except RecursionError:
        raise FileProblem(file, 1, "", "is nested too deeply") from None
    except MemoryError:
        raise FileProblem(file, 1, "", "asks for more than the memory can hold") from None


def default_limits() -> dict[str, Any]:
    """What ``solve`` takes by keyword and a file can state, with its defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(solve).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in ("x0", "callback", "on_interrupt")
    }


def _parsed(file: Path) -> tuple[str, Spec]:
    raw = file.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise FileProblem(file, line, "", "is not UTF-8 text; save it with that encoding") from None
    if deep := _DOTTED.search(text):
        raise FileProblem(file, text.count("\n", 0, deep.start(1)) + 1, "", "has a key of too many parts")
    try:
        spec = tomllib.loads(text)
    except RecursionError:
        raise FileProblem(file, 1, "", "is nested too deeply") from None
    except ValueError as error:  # a TOMLDecodeError, or a number of more digits than Python reads
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        raise FileProblem(file, line, "", f"is not valid TOML: {error}") from None
    if _depth(spec) > DEEPEST:
        raise FileProblem(file, 1, "", "is nested too deeply")
    return text, spec


_DOTTED = re.compile(
    # a key begins where a line, a table, a header or an element does; comments and values are passed over at once
    rf"(?:^|[\[{{,])[ \t]*((?:(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}})",
    re.MULTILINE,
)


def _depth(value: Any) -> int:
    """How deep tables and lists are nested, found without nesting."""
    depth, layer = 0, [value]
    while layer:
        depth += 1
        inside = (one.values() if isinstance(one, dict) else one for one in layer)
        layer = [part for parts in inside for part in parts if isinstance(part, (dict, list))]
    return depth


def words_of(error: BaseException) -> str:
    """What went wrong; of errors that say little, also what they are."""
    if isinstance(error, MemoryError):
        return "the memory does not suffice"
    plain = isinstance(error, (ValueError, TypeError)) and str(error)
    return str(error) if plain else f"{type(error).__name__}: {error}"


def _checked(check: Callable[[Any, str], Any], value: Any, at: KeyPath) -> None:
    try:
        check(value, str(at[-1]))
    except (ValueError, TypeError) as error:
        raise KeyProblem(at, str(error)) from None


class _Reader:
    def __init__(self, file: Path, text: str, spec: Spec) -> None:
        self.file, self.text, self.spec = file, text, spec
        self.data = Data(file.parent)
        self.build = Builder(self.data)

    def task(self, output: str | Path | None) -> Task:
        chain = "levels" in self.spec
        keys = (*CHAIN_KEYS, *RUN_KEYS) if chain else FILE_KEYS
        wrong, made = Collected(), dict[str, Any]()
        for key in self.spec:
            if key not in keys:
                kind = "a chain of levels" if chain else "a problem file"
                wrong.found.append(KeyProblem((key,), f"{kind} has no key {key!r}; {suggestion(key, keys)}"))
        with wrong.noted():
            made["problem"] = self._chain() if chain else self._two_levels()
        with wrong.noted():
            made["limits"] = self._limits(solve)
        with wrong.noted():
            made["output"] = self._output() if output is None else Path(output)
        with wrong.noted():
            made |= self._run()
        wrong.settle()
        return Task(file=self.file, text=self.text, spec=self.spec, data_files=frozenset(self.data.files), **made)

    def _chain(self) -> Problem:
        spec, levels = self.spec, self.spec["levels"]
        if not isinstance(levels, list) or not levels:
            raise KeyProblem(("levels",), "must be a list of objectives, the most important first: write [[levels]]")
        wrong, given, made, domain = Collected(), dict[str, Any](), list[Objective](), None
        with wrong.noted():
            made = self.build.objectives(levels, ("levels",))
        with wrong.noted():
            domain = self.build.domain(spec["domain"], ("domain",)) if "domain" in spec else None
        for key in ("slack", "relative_slack", "names"):
            if key in spec:
                with wrong.noted():
                    given[key] = self._several(key)
        wrong.settle()
        try:
            return Problem(made[-1], made[:-1], domain, **given)
        except (ValueError, TypeError) as error:
            raise KeyProblem(blamed(str(error), list(given)) or ("levels",), str(error)) from None

    def _several(self, key: str) -> Any:
        """A number or a list of such; names are a list of texts."""
        value, kind = self.spec[key], str if key == "names" else float
        if isinstance(value, list):
            return [self.build.value(one, kind, (key, i)) for i, one in enumerate(value)]
        if key == "names":
            raise KeyProblem((key,), f"must be a list of texts, got {value!r}")
        return self.build.value(value, float, (key,))

    def _two_levels(self) -> Problem:
        spec = {key: self.spec[key] for key in PROBLEM_KEYS if key in self.spec}
        names = {"names": self._several("names")} if "names" in spec else {}
        spec.pop("names", None)
        problem = self.build.make(Problem, spec, (), "a problem file")
        try:
            return replace(problem, **names)
        except (ValueError, TypeError) as error:
            raise KeyProblem(("names",), str(error)) from None

    def _run(self) -> dict[str, Any]:
        spec = self.spec
        if "slacks" in spec and "slack" in spec:
            raise KeyProblem(("slacks",), "give slack for one problem or slacks for a trade-off curve, not both")
        vectors: dict[str, Any] = {
            key: self.build.value(spec[key], Any, (key,)) for key in ("slacks", "x0") if key in spec
        }
        for key, value in vectors.items():
            _checked(as_vector, value, (key,))
        if (vectors.get("slacks", np.ones(1)) <= 0).any():
            raise KeyProblem(("slacks",), "must all be positive")
        return {"method": self.build.method(spec.get("method", "auto"), ("method",)), **vectors}

    def _limits(self, call: Any) -> dict[str, Any]:
        limits = self.spec.get("limits", {})
        if not isinstance(limits, dict):
            raise KeyProblem(("limits",), f"must be a table, got {limits!r}")
        hints, known = parameters(call), default_limits()
        wrong, made = Collected(), dict[str, Any]()
        for key, given in limits.items():
            with wrong.noted():
                if key not in known:
                    raise KeyProblem(("limits", key), f"there is no limit {key!r}; {suggestion(key, known)}")
                value = self.build.value(given, hints[key][1], ("limits", key))
                made[key] = None if key == "max_time" and value == float("inf") else value
                if key in LIMITS and made[key] is not None:
                    _checked(LIMITS[key], value, ("limits", key))
        wrong.settle()
        return {**known, **made}

    def _output(self) -> Path:
        given = self.spec.get("output")
        if given is None:
            return self.file.with_suffix(".result")
        if not isinstance(given, str) or not given:
            raise KeyProblem(("output",), f"must be the name of a file without ending, got {given!r}")
        path = self.file.parent / given
        try:
            inside = path.resolve().is_relative_to(self.file.parent.resolve())
        except (OSError, ValueError, RuntimeError) as error:  # a name that no file can have
            raise KeyProblem(("output",), f"cannot be the name of a file: {error}") from None
        if not inside:
            raise KeyProblem(("output",), f"{given!r} is outside of the folder of the file; --out may name it")
        return path
