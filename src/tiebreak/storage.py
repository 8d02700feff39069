"""Results on disk: one .npz file of arrays and a JSON tree, written whole or not at all. No pickle."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from .result import Result

FORMAT = 1


def save(result: Result, path: str | Path) -> None:
    """Write ``result``; the file appears complete or not at all."""
    arrays: dict[str, np.ndarray] = {}
    tree = {"format": FORMAT, "result": _pack(result, arrays)}
    path = Path(path)
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        np.savez(file, tree=np.array(json.dumps(tree)), **arrays)  # type: ignore[arg-type]
    os.replace(part, path)


def load(path: str | Path) -> Result:
    """Read a result back."""
    with np.load(path, allow_pickle=False) as data:
        if "tree" not in data:
            raise ValueError(f"{path} is not a saved tiebreak result")
        tree = json.loads(str(data["tree"]))
        if tree.get("format") != FORMAT:
            raise ValueError(f"{path} has format {tree.get('format')!r}; this version reads format {FORMAT}")
        result = _unpack(tree["result"], data)
    if not isinstance(result, Result):
        raise ValueError(f"{path} holds a {type(result).__name__}, not a Result")
    return result


def _pack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if value is None or (isinstance(value, (bool, str)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return {"type": _name(type(value)), "enum": value.name}
    if isinstance(value, (int, float, np.number)):
        number = value.item() if isinstance(value, np.number) else value
        return number if isinstance(number, int) else {"float": float(number).hex()}
    if isinstance(value, np.ndarray):
        key = f"array{len(arrays)}"
        arrays[key] = value
        return {"array": key}
    if is_dataclass(value) and not isinstance(value, type):
        content = {one.name: _pack(getattr(value, one.name), arrays) for one in fields(value)}
        return {"type": _name(type(value)), "fields": content}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"type": _name(type(value)), "items": [_pack(item, arrays) for item in value]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_pack(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): _pack(item, arrays) for key, item in value.items()}}
    raise TypeError(f"cannot save a {type(value).__name__}")


def _unpack(value: Any, arrays: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float.fromhex(value["float"])
    if "array" in value:
        return arrays[value["array"]]
    if "list" in value:
        return [_unpack(item, arrays) for item in value["list"]]
    if "tuple" in value:
        return tuple(_unpack(item, arrays) for item in value["tuple"])
    if "dict" in value:
        return {key: _unpack(item, arrays) for key, item in value["dict"].items()}
    cls = _class(value["type"])
    if "enum" in value:
        return cls[value["enum"]]
    if "items" in value:
        return cls(*(_unpack(item, arrays) for item in value["items"]))
    made = {name: _unpack(item, arrays) for name, item in value["fields"].items()}
    kept = {one.name for one in fields(cls) if one.init}
    return cls(**{name: item for name, item in made.items() if name in kept})


def _name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _class(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if module.split(".")[0] != "tiebreak":
        raise ValueError(f"refusing to build a {name}: only tiebreak's own types are read")
    return getattr(importlib.import_module(module), attribute)
