"""Results and checkpoints on disk: one .npz file of arrays and a JSON tree, written whole or not at all. No pickle.

A file is data, never code: what is made of it is what the types of the fields of ``Result`` and ``State`` say, and a
file can choose only among those, by short names. The class of a state is that of the method, which must be one of the
library's or already loaded. Every value is checked against the type of its field.
"""

from __future__ import annotations

import json
import math
import types
import typing
import zipfile
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .disk import Archive, ArchiveError, write_whole
from .methods import State, state_class
from .result import Result

FORMAT = 2
TREE = "tree.json"
DEEPEST = 50
"""States and results are not nested deeper than this."""

KINDS: dict[str, type] = {"result": Result, "checkpoint": State}
WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def save(result: Result, path: str | Path) -> None:
    """Write ``result``; the file appears complete or not at all."""
    _write("result", result.method, result, path)


def load(path: str | Path) -> Result:
    """Read a result back."""
    result = _read(path)
    if not isinstance(result, Result):
        raise ValueError(f"{path} is a checkpoint: tiebreak.solve(problem, method, x0={str(path)!r}) goes on from it")
    return result


def save_state(state: State, path: str | Path) -> None:
    """Write a state that a run can go on from."""
    if state.origin is None:
        raise ValueError("this state does not say which problem and method it belongs to: no run of solve has made it")
    _write("checkpoint", state.origin.method, state, path)


def load_state(path: str | Path) -> State:
    """The state in a file that ``save`` or ``save_state`` has written."""
    found = _read(path)
    state = found.state if isinstance(found, Result) else found
    if state is None:
        raise ValueError(f"{path} holds a result without a state: there is nothing to go on from; use its x")
    return state


def _write(kind: str, method: str, value: Any, path: str | Path) -> None:
    arrays: list[np.ndarray] = []
    try:
        tree = {"tiebreak": kind, "format": FORMAT, "method": method, "content": _packed(value, arrays)}
        _Reader(method, arrays).value(tree["content"], KINDS[kind], kind)  # what cannot be read is not written
    except ValueError as error:
        raise TypeError(f"cannot save this {kind}: {error}") from None
    text = json.dumps(tree, allow_nan=False)

    def write(file: typing.IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for i, array in enumerate(arrays):
                with archive.open(f"array{i}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(TREE, text)

    write_whole(path, write)


def _read(path: str | Path) -> Any:
    with Archive(path, expansion=1, unpacked=0) as archive:
        if TREE not in archive:
            old = "tree" in archive.names
            why = "; files of format 1 are not read any more, because they could run code" if old else ""
            raise ArchiveError(f"{path} is not a saved tiebreak result{why}")
        try:
            tree = json.loads(archive.text(TREE))
        except (ValueError, RecursionError) as error:
            raise ArchiveError(f"{path} is damaged: {error}") from None
        kind = tree.get("tiebreak") if isinstance(tree, dict) else None
        if not isinstance(kind, str) or kind not in KINDS:
            raise ArchiveError(f"{path} is not a saved tiebreak result")
        if tree.get("format") != FORMAT:
            raise ArchiveError(f"{path} has format {tree.get('format')!r}; this version reads format {FORMAT}")
        method = tree.get("method")
        if not isinstance(method, str):
            raise ArchiveError(f"{path} does not name a method")
        arrays = [archive.array(f"array{i}") for i in range(len(archive.names))]
        try:
            found = _Reader(method, arrays).value(tree.get("content"), KINDS[kind], kind)
            if (found.method if isinstance(found, Result) else method) != method:
                raise ValueError(f"it names two methods, {found.method!r} and {method!r}")
            return found
        except (ValueError, TypeError) as error:
            raise ArchiveError(f"{path} cannot be read: {error}") from None


def _packed(value: Any, arrays: list[np.ndarray]) -> Any:
    """The same in JSON's types; arrays go to ``arrays`` and leave their number."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        known = next((i for i, array in enumerate(arrays) if array is value), len(arrays))
        if known == len(arrays):
            arrays.append(value)
        return {"array": known}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _named(value, {name: getattr(value, name) for name in value._fields}, arrays)
    if is_dataclass(value) and not isinstance(value, type):
        return _named(value, {one.name: getattr(value, one.name) for one in fields(value)}, arrays)
    if isinstance(value, (list, tuple)):
        return [_packed(item, arrays) for item in value]
    if isinstance(value, dict):
        return {str(key): _packed(item, arrays) for key, item in value.items()}
    raise ValueError(f"a {type(value).__name__} is no plain data")


def _named(value: Any, content: dict[str, Any], arrays: list[np.ndarray]) -> dict[str, Any]:
    return {"is": type(value).__name__, "fields": {name: _packed(item, arrays) for name, item in content.items()}}


class _Reader:
    """Makes values of the types that fields have; ``arrays`` are those that nodes refer to by number."""

    def __init__(self, method: str, arrays: list[np.ndarray]) -> None:
        self.method, self.arrays = method, arrays

    def value(self, node: Any, hint: Any, where: str, depth: int = 0) -> Any:
        """What the node stands for, where a value of type ``hint`` belongs; ValueError says what is wrong."""
        if depth > DEEPEST:
            raise ValueError(f"{where} is nested too deeply")
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._one_of(node, arguments, where, depth)
        if hint is Any:
            return self._plain(node, where, depth)
        if origin is np.ndarray or hint is np.ndarray:
            return self._array(node, hint, where)
        if origin in (list, tuple):
            return self._several(node, origin, arguments, where, depth)
        if origin is dict:
            if not isinstance(node, dict):
                raise ValueError(f"{where} must be a table")
            return {key: self.value(item, arguments[1], f"{where}.{key}", depth + 1) for key, item in node.items()}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _chosen(node, hint, where)
        if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
            return self._made(node, state_class(self.method) if hint is State else hint, where, depth)
        return _single(node, hint, where)

    def _one_of(self, node: Any, hints: tuple[Any, ...], where: str, depth: int) -> Any:
        if node is None and types.NoneType in hints:
            return None
        wanted = [hint for hint in hints if hint is not types.NoneType]
        if len(wanted) == 1:
            return self.value(node, wanted[0], where, depth)
        name = node.get("is") if isinstance(node, dict) else None
        for hint in wanted:
            if getattr(hint, "__name__", None) == name:
                return self.value(node, hint, where, depth)
        raise ValueError(f"{where} must be one of {', '.join(getattr(one, '__name__', str(one)) for one in wanted)}")

    def _made(self, node: Any, cls: Any, where: str, depth: int) -> Any:
        if not isinstance(node, dict) or node.get("is") != cls.__name__ or not isinstance(node.get("fields"), dict):
            raise ValueError(f"{where} must be a {cls.__name__}, got {_short(node)}")
        hints, required = _field_types(cls)
        content: dict[str, Any] = node["fields"]
        if unknown := [name for name in content if name not in hints]:
            raise ValueError(f"{where} is a {cls.__name__}, which has no {_short(unknown[0])}")
        if missing := [name for name in required if name not in content]:
            raise ValueError(f"{where} lacks {missing[0]}")
        made = {name: self.value(item, hints[name], f"{where}.{name}", depth + 1) for name, item in content.items()}
        return cls(**made)

    def _several(self, node: Any, kind: Any, hints: tuple[Any, ...], where: str, depth: int) -> Any:
        if not isinstance(node, list):
            raise ValueError(f"{where} must be a list, got {_short(node)}")
        if kind is list or hints[-1] is Ellipsis:
            hints = (hints[0],) * len(node)
        if len(hints) != len(node):
            raise ValueError(f"{where} must have {len(hints)} entries, got {len(node)}")
        pairs = enumerate(zip(node, hints, strict=True))
        return kind(self.value(item, hint, f"{where}[{i}]", depth + 1) for i, (item, hint) in pairs)

    def _plain(self, node: Any, where: str, depth: int) -> Any:
        """Where a field may hold anything: arrays, single values, and tuples of such."""
        if isinstance(node, list):
            return tuple(self.value(item, Any, f"{where}[{i}]", depth + 1) for i, item in enumerate(node))
        if isinstance(node, dict):
            return self._array(node, np.ndarray, where)
        return node if node is None or isinstance(node, (bool, str)) else _single(node, float, where)

    def _array(self, node: Any, hint: Any, where: str) -> np.ndarray:
        number = node.get("array") if isinstance(node, dict) and len(node) == 1 else None
        if type(number) is not int or not 0 <= number < len(self.arrays):
            raise ValueError(f"{where} must be one of the {len(self.arrays)} arrays of the file, got {_short(node)}")
        array = self.arrays[number]
        exact = typing.get_args(hint)
        wanted = np.dtype(typing.get_args(exact[1])[0]) if exact and typing.get_args(exact[1]) else None
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8 or (wanted is not None and array.dtype != wanted):
            raise ValueError(f"{where} must be an array of {wanted or 'numbers'}, got {array.dtype}")
        return array


@cache
def _field_types(cls: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The types of the fields that make a value of a class, and which of them it cannot do without."""
    try:
        hints = typing.get_type_hints(cls)
    except NameError as error:
        raise ValueError(f"the types of the fields of {cls.__name__} cannot be told: {error}") from None
    if not is_dataclass(cls):
        return {name: hints[name] for name in cls._fields}, tuple(cls._fields)
    own = [one for one in fields(cls) if one.init]
    required = tuple(one.name for one in own if one.default is MISSING and one.default_factory is MISSING)
    return {one.name: hints[one.name] for one in own}, required


def _single(node: Any, hint: Any, where: str) -> Any:
    if hint is float and isinstance(node, str) and node in WORDS:
        return WORDS[node]
    kinds = {float: (int, float), int: (int,), bool: (bool,), str: (str,)}.get(hint)
    if kinds is None:
        raise ValueError(f"{where} has the type {hint}, which cannot be kept in a file")
    if type(node) not in kinds or (type(node) is int and abs(node) >= 2**63):
        raise ValueError(f"{where} must be a {hint.__name__}, got {_short(node)}")
    return node


def _chosen(node: Any, choices: type[Enum], where: str) -> Enum:
    for one in choices:
        if type(node) is type(one.value) and node == one.value:
            return one
    raise ValueError(f"{where} must be one of {', '.join(str(one.value) for one in choices)}, got {_short(node)}")


def _short(node: Any) -> str:
    text = repr(node)
    return text if len(text) <= 60 else text[:57] + "..."
