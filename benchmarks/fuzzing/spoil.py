"""Ways to spoil a file: as bytes, as text, as an archive of arrays, as the tree of a result."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

Rng = np.random.Generator

HOSTILE = [
    "nan", "inf", "-inf", "1e400", "9" * 30, "9" * 400, "9" * 5000, "-1", "0", "1e-320", "0x10", "1_000_000_000_000",
    "true", '""', '"a\\u0000b"', '"../../../etc/passwd"', '"/dev/zero"', '"' + "x" * 3000 + '"', "[]", "{}", "[[]]",
    "[1, 2]", "[[1, 2], [3]]", '["a"]', "{ type = 3 }", '{ file = "data.csv" }', '{ file = "dense.npz" }',
    '{ file = "sparse.npz" }', '{ file = "two.toml" }', '{ type = "SquaredNorm" }', '{ type = "Box", lower = 1 }',
    "1979-05-27", "07:32:00", "[" * 200 + "]" * 200, "[" * 5000, "{a=" * 300 + "1" + "}" * 300, "'''", '"""', "\x00",
    "\ufeff", "٣", "1e308", "[1e308, 1e308, 1e308, 1e308]", '"Polyhedron"', '"L1Ball"', '"exact"', '"Spectrahedron"',
]  # fmt: skip

NODES: list[Any] = [
    None, True, 0, -1, 2**62, 10**30, 1.5, 1e308, "nan", "inf", "-inf", "x", "", [], {}, [[]], [1, 2], {"array": 0},
    {"array": -1}, {"array": 10**9}, {"array": None}, {"is": "Result", "fields": {}}, {"is": "State", "fields": {}},
    {"is": "Point", "fields": {"x": {"array": 0}, "images": []}}, {"fields": 1}, "converged", "cg-bio-anytime", "exact",
    {"array": 1}, {"array": 2}, [{"array": 0}, {"array": 0}], ["x", "x"], [1.5, 1.5], [None, None], -1.5, 1e-320,
    "1/0", "1/3", "-f/1", "9" * 5000 + "/7",
]  # fmt: skip


def spoilt_bytes(raw: bytes, rng: Rng) -> bytes:
    """Flipped bits, a piece cut out, doubled, overwritten, or the end cut off."""
    data = bytearray(raw)
    if not data:
        return bytes(rng.integers(0, 256, 20, dtype=np.uint8))
    at, length = int(rng.integers(len(data))), int(rng.integers(1, 40))
    match int(rng.integers(6)):
        case 0:
            for place in rng.integers(len(data), size=rng.integers(1, 6)):
                data[place] ^= 1 << int(rng.integers(8))
        case 1:
            del data[at:]
        case 2:
            del data[at : at + length]
        case 3:
            data[at:at] = data[at : at + length] * int(rng.integers(1, 30))
        case 4:
            data[at : at + length] = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        case _:
            data[at : at + 4] = b"\xff\xff\xff\x7f" if rng.random() < 0.5 else b"\x00\x00\x00\x00"
    return bytes(data)


def spoilt_text(raw: bytes, rng: Rng) -> bytes:
    """A value, a key or a line of a text replaced, removed, doubled or moved; or its bytes spoilt."""
    if rng.random() < 0.25:
        return spoilt_bytes(raw, rng)
    text = raw.decode("utf-8")
    for _ in range(int(rng.integers(1, 4))):
        words = list(re.finditer(r"[^\s=,\[\]{}]+", text))
        if not words:
            break
        word = words[int(rng.integers(len(words)))]
        other = words[int(rng.integers(len(words)))][0]
        lines = text.splitlines(keepends=True)
        line = int(rng.integers(len(lines)))
        match int(rng.integers(7)):
            case 0 | 1 | 2:
                text = text[: word.start()] + HOSTILE[int(rng.integers(len(HOSTILE)))] + text[word.end() :]
            case 3:
                text = text[: word.start()] + other + text[word.end() :]
            case 4:
                text = "".join(lines[:line] + lines[line + 1 :])
            case 5:
                text = "".join([*lines[:line], lines[line] * int(rng.integers(2, 50)), *lines[line:]])
            case _:
                text = re.sub(r"= *[^\n]*", lambda _: "= " + HOSTILE[int(rng.integers(len(HOSTILE)))], text, count=1)
    return text.encode("utf-8", "surrogatepass")


def spoilt_archive(raw: bytes, rng: Rng) -> bytes:
    """One array replaced by another of other type, shape or content; members lost, renamed, compressed."""
    if rng.random() < 0.35:
        return spoilt_bytes(raw, rng)
    members = _members(raw)
    name = list(members)[int(rng.integers(len(members)))]
    match int(rng.integers(7)):
        case 0:
            del members[name]
        case 1:
            members[f"{name}.old"] = members.pop(name)
        case 2:
            members[name] = spoilt_bytes(members[name], rng)
        case 3:
            claim = rng.choice(["(2000000000,)", "(-1,)", "()", "(0, 5)", "(3, 4611686018427387904)", "(1.5,)"])
            members[name] = re.sub(rb"\([0-9, ]*\)", str(claim).encode(), members[name], count=1)
        case _:
            members[name] = _other_array(members[name], rng)
    return _written(members, compressed=rng.random() < 0.3)


def spoilt_result(raw: bytes, rng: Rng) -> bytes:
    """A node of the tree replaced or removed, with all checksums right; or the archive spoilt."""
    if rng.random() < 0.3:
        return spoilt_archive(raw, rng)
    members = _members(raw)
    members["tree.json"] = spoilt_json(members["tree.json"], rng)
    return _written(members, compressed=False)


def spoilt_json(raw: bytes, rng: Rng) -> bytes:
    """One or two nodes of a tree replaced or removed: any leaf, or on a way down from the root."""
    tree = json.loads(raw)
    for _ in range(int(rng.integers(1, 3))):
        places = list(_leaves(tree)) if rng.random() < 0.5 else _on_the_way(tree, rng)
        if not places:
            break
        holder, key = places[int(rng.integers(len(places)))]
        if rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = deepcopy(NODES[int(rng.integers(len(NODES)))])
    return json.dumps(tree).encode()


def _keys(node: Any) -> list[Any]:
    return list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []


def _leaves(node: Any) -> Iterator[tuple[Any, Any]]:
    """Where values are that hold no others; references to arrays are such."""
    for key in _keys(node):
        if _keys(node[key]) and set(_keys(node[key])) != {"array"}:
            yield from _leaves(node[key])
        else:
            yield node, key


def _on_the_way(node: Any, rng: Rng) -> list[tuple[Any, Any]]:
    """One place on a random way down."""
    while keys := _keys(node):
        inner = [key for key in keys if _keys(node[key])]
        keys = inner if inner and rng.random() < 0.7 else keys
        key = keys[int(rng.integers(len(keys)))]
        if not _keys(node[key]) or rng.random() < 0.1:
            return [(node, key)]
        node = node[key]
    return []


def _members(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _written(members: dict[str, bytes], compressed: bool) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def _other_array(raw: bytes, rng: Rng) -> bytes:
    try:
        array = np.load(io.BytesIO(raw), allow_pickle=False)
    except ValueError:
        return raw
    options = [
        lambda: np.array(array, dtype=object),
        lambda: array.astype(complex) if array.dtype.kind in "biuf" else array,
        lambda: array.astype(np.float32) if array.dtype.kind in "biuf" else array,
        lambda: array.astype("S"),
        lambda: np.zeros(int(rng.choice([0, 1, 5, 10**6]))),
        lambda: np.zeros((0, 3)),
        lambda: np.concatenate([array.ravel(), array.ravel()]),
        lambda: array.ravel()[: max(1, array.size // 2)],
        lambda: np.full(array.shape, rng.choice([2.0**31, -7.0, 2.0**62])).astype(array.dtype),
        lambda: np.full(array.shape, rng.choice([np.nan, np.inf, 1e308, 1e-310])),
        lambda: np.array("pickle"),
        lambda: rng.integers(-9, 99, array.shape),
        lambda: array[..., None],
    ]
    file = io.BytesIO()
    with np.errstate(all="ignore"):
        np.save(file, options[int(rng.integers(len(options)))](), allow_pickle=True)
    return file.getvalue()
