"""Objectives, sets, step rules and methods from the tables of a problem file.

What a table may hold is read off the constructor: the names of its parameters, which of them are required, and
whether one takes a number, an array, or another object.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, cast

import numpy as np

from ..methods import Solver, named
from ..objectives import Objective, Sum
from ..sets import Domain, Product
from .catalogue import KINDS, classes, parameters, parts
from .data import Data
from .errors import Collected, KeyProblem, suggestion
from .locate import KeyPath

T = TypeVar("T")
Spec = dict[str, Any]

PROBLEM_KEYS = ("upper", "lower", "domain", "slack", "relative_slack", "names", "error_bound")
CHAIN_KEYS = ("levels", "domain", "slack", "relative_slack", "names")
RUN_KEYS = ("slacks", "method", "x0", "limits", "output")
FILE_KEYS = (*PROBLEM_KEYS, *RUN_KEYS)
"""The keys of a file that has two levels: those of the problem, and what to do with it."""

MOST_VARIABLES = 2**24
SIZES = ("dim", "n", "k", "atoms", "rest", "shape")
"""Parameters that count variables."""

SCALARS = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}


class Builder:
    """Makes objects from tables; arrays come from ``data``."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def objective(self, spec: Any, at: KeyPath) -> Objective:
        """An objective: ``type`` with its parameters, or ``terms``; either with a ``weight``."""
        spec = _as_table(spec, at)
        inner = {key: value for key, value in spec.items() if key != "weight"}
        made = self._sum(inner, at) if "terms" in inner else cast(Objective, self._typed(Objective, inner, at))
        if "weight" not in spec:
            return made
        weight = _scalar(spec["weight"], (float,), (*at, "weight"))
        try:
            weighted: Objective = made * weight
            return weighted
        except ValueError as error:
            said = str(error).replace("the factor of an objective", "weight")
            raise KeyProblem((*at, "weight"), said) from None

    def objectives(self, specs: Sequence[Any], at: KeyPath) -> list[Objective]:
        """A list of objectives."""
        wrong, made = Collected(), list[Objective]()
        for i, spec in enumerate(specs):
            with wrong.noted():
                made.append(self.objective(spec, (*at, i)))
        wrong.settle()
        return made

    def domain(self, spec: Any, at: KeyPath) -> Domain:
        """A set."""
        spec = _as_table(spec, at)
        if spec.get("type") != "Product":
            return cast(Domain, self._typed(Domain, spec, at))
        _check_known(spec, ("type", "blocks"), "Product", at)
        _check_complete(spec, ("blocks",), "Product", at)
        path = (*at, "blocks")
        blocks = _as_table(spec["blocks"], path, word="a table of blocks, as in w = { type = ..., shape = ... }")
        wrong, made = Collected(), {}
        for name, block in blocks.items():
            with wrong.noted():
                made[name] = self._block(block, (*path, name))
        wrong.settle()
        return _called(Product, {"blocks": made}, at)

    def method(self, spec: Any, at: KeyPath) -> str | Solver[Any]:
        """A method: its name, or a table of its name and its parameters."""
        spec = (
            {"name": spec}
            if isinstance(spec, str)
            else _as_table(spec, at, word="the name of a method, or a table of its name and its parameters")
        )
        if "name" not in spec:
            raise KeyProblem(at, "name is missing: which method?")
        name: str = _scalar(spec["name"], (str,), (*at, "name"))
        given = {key: value for key, value in spec.items() if key != "name"}
        if name == "auto":
            if given:
                raise KeyProblem((*at, min(given)), "auto has no parameters: it chooses the method; name one")
            return name
        where = (*at, "name") if len(spec) > 1 else at
        try:
            default = named(name)
        except (ValueError, TypeError) as error:
            raise KeyProblem(where, str(error)) from None
        return self.make(type(default), given, at, name)

    def make(self, call: Callable[..., T], spec: Spec, at: KeyPath, name: str = "") -> T:
        """Call a class with what the table holds."""
        name = name or call.__name__
        known, wrong, given = parameters(call), Collected(), {}
        for key, value in spec.items():
            with wrong.noted():
                _check_known([key], known, name, at)
                given[key] = self.value(value, known[key][1], (*at, key))
        with wrong.noted():
            if all(key in known for key in spec):  # else it may be there under another name
                _check_complete(spec, [key for key, (required, _) in known.items() if required], name, at)
        wrong.settle()
        try:
            made = _called(call, given, at)
            if (getattr(made, "dim", None) or 0) > MOST_VARIABLES:
                raise KeyProblem(at, f"is too large: a problem file has at most {MOST_VARIABLES} variables")
            return made
        except KeyProblem as problem:
            if "1-D" in str(problem) and isinstance(spec.get(str(problem.path[-1])), dict):
                hint = "choose one column with column = ..., or take all row by row with flatten = true"
                raise KeyProblem(problem.path, f"{problem}; {hint}") from None
            raise

    def value(self, value: Any, hint: Any, at: KeyPath) -> Any:
        """What a parameter of that type gets for a value of the file."""
        inside = parts(hint)
        if Objective in inside:
            return self.objective(value, at)
        if Domain in inside:
            return self.domain(value, at)
        for base in KINDS:
            if base in inside:
                return self._typed(base, _as_table(value, at), at)
        for part in inside:
            if isinstance(part, type) and is_dataclass(part):
                return self.make(part, _as_table(value, at), at)
        if wanted := _scalars(hint):
            return _scalar(value, wanted, at)
        if isinstance(value, dict):
            if "file" not in value:
                raise KeyProblem(
                    at, "a table stands for data here and needs file = the name of a CSV, Parquet or NPZ file"
                )
            return self.data.array(value, at)
        if isinstance(value, list) and Sequence not in inside:
            return _array(value, at)
        return value

    def _typed(self, base: type, spec: Spec, at: KeyPath) -> Any:
        kind, known = KINDS[base][0], classes(base)
        if "type" not in spec:
            raise KeyProblem(at, f"type is missing: which {kind}? There is {', '.join(known)}")
        name = _scalar(spec["type"], (str,), (*at, "type"))
        if name not in known:
            raise KeyProblem((*at, "type"), f"there is no {kind} {name!r}; {suggestion(name, known)}")
        rest = {key: value for key, value in spec.items() if key != "type"}
        return self.make(known[name], rest, at)

    def _sum(self, spec: Spec, at: KeyPath) -> Objective:
        _check_known(spec, ("terms",), "a sum", at)
        path = (*at, "terms")
        terms = spec["terms"]
        if not isinstance(terms, list) or not terms:
            raise KeyProblem(path, f"must be a list of objectives, got {_short(terms)}")
        made = self.objectives(terms, path)
        try:
            return made[0] if len(made) == 1 else Sum(*made)
        except ValueError as error:
            raise KeyProblem(path, str(error)) from None

    def _block(self, spec: Any, at: KeyPath) -> Domain | tuple[Domain, tuple[int, ...]]:
        """A set with the ``shape`` of its block, unless that is a parameter of the set itself."""
        spec = _as_table(spec, at)
        own = classes(Domain).get(str(spec.get("type")))
        if "shape" not in spec or (own is not None and "shape" in parameters(own)):
            return self.domain(spec, at)
        sizes = spec["shape"] if isinstance(spec["shape"], list) else [spec["shape"]]
        shape = tuple(_scalar(size, (int,), (*at, "shape")) for size in sizes)
        return self.domain({key: value for key, value in spec.items() if key != "shape"}, at), shape


def _as_table(value: Any, at: KeyPath, word: str = "a table of type = a name, with its parameters") -> Spec:
    """A table; a bare name is one without parameters."""
    if isinstance(value, str):
        return {"type": value}
    if not isinstance(value, dict):
        raise KeyProblem(at, f"must be {word}, got {_short(value)}")
    return value


def _check_known(spec: Iterable[str], known: Collection[str], name: str, at: KeyPath) -> None:
    for key in spec:
        if key not in known:
            there = suggestion(key, known) or "it has none"
            top = "; a key of the file itself must stand above the first [table]" if key in FILE_KEYS and at else ""
            raise KeyProblem((*at, key), f"{name} has no parameter {key!r}; {there}{top}")


def _check_complete(spec: Spec, required: Collection[str], name: str, at: KeyPath) -> None:
    missing = [key for key in required if key not in spec]
    if missing:
        raise KeyProblem(at, f"{name} needs {' and '.join(missing)}")


def _called(call: Callable[..., T], given: Spec, at: KeyPath, renamed: Mapping[str, str] | None = None) -> T:
    """The object, or what its constructor objects to, at the key that it names."""
    try:
        return call(**given)
    except MemoryError:
        raise KeyProblem(at, "the memory does not suffice for this") from None
    except (ValueError, TypeError, RuntimeError, ArithmeticError) as error:
        message = str(error)
        for own, ours in (renamed or {}).items():
            message = message.replace(own, ours)
        keys = [(renamed or {}).get(key, key) for key in given]
        raise KeyProblem((*at, *blamed(message, keys)), message) from None


def blamed(message: str, keys: Sequence[str]) -> KeyPath:
    """The key that an error message begins with, or else the first one of two letters or more that it mentions."""
    for key in keys:
        if re.match(rf"{re.escape(key)}\b", message):
            return (key,)
    found = [
        (match.start(), key) for key in keys if len(key) > 1 and (match := re.search(rf"\b{re.escape(key)}\b", message))
    ]
    return (min(found)[1],) if found else ()


def _scalars(hint: Any) -> tuple[Any, ...]:
    """The types of a parameter that takes single values only, or nothing."""
    union = typing.get_origin(hint) in (typing.Union, UnionType)
    types = tuple(one for one in (typing.get_args(hint) if union else (hint,)) if one is not NoneType)
    fine = all(one in SCALARS or typing.get_origin(one) is typing.Literal for one in types)
    return types if fine else ()


def _scalar(value: Any, wanted: Sequence[Any], at: KeyPath) -> Any:
    """A single value of one of the types; whole numbers are numbers, true and false are not."""
    words = []
    for one in wanted:
        choices = typing.get_args(one)
        if choices:
            if value in choices:
                return value
            words.append("one of " + ", ".join(repr(choice) for choice in choices))
        else:
            if type(value) is int and one in (int, float):
                _check_size(value, at)
                return value
            if type(value) is one:
                return value
            words.append(SCALARS[one])
    raise KeyProblem(at, f"must be {' or '.join(words)}, got {_short(value)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _check_size(value: int, at: KeyPath) -> None:
    """No number beyond 64 bits, and no size that no memory could hold."""
    if abs(value) >= 2**63:
        raise KeyProblem(at, f"is too large a number: {_short(value)}")
    if at[-1] in SIZES and value > MOST_VARIABLES:
        raise KeyProblem(at, f"is too large: a problem file has at most {MOST_VARIABLES} variables")


def _array(value: list[Any], at: KeyPath) -> Any:
    for i, row in enumerate(value):
        if isinstance(row, list) != isinstance(value[0], list) or (isinstance(row, list) and len(row) != len(value[0])):
            here, first = _short(row), _short(value[0])
            raise KeyProblem((*at, i), f"the rows differ in length: this is {here}, the first is {first}")
    try:
        array = np.array(value)
    except (ValueError, OverflowError) as error:
        raise KeyProblem(at, f"must be an array of numbers: {error}") from None
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise KeyProblem((*at, *map(int, np.argwhere(np.isnan(array))[0])), "NaN is not a value that can be used")
    return array
