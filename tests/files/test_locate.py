"""Lines of keys, in files whose every whole number is the line it stands on."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tiebreak.files.locate import KeyPath, line_of, spelt

EVERY_SYNTAX = (Path(__file__).parent / "every_syntax.toml").read_text()


def leaves(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, int]]:
    """The whole numbers of a parsed file, with their paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path, value


def test_every_way_to_write_a_key() -> None:
    found = list(leaves(tomllib.loads(EVERY_SYNTAX)))
    assert len(found) == 22
    for path, line in found:
        assert line_of(EVERY_SYNTAX, path) == line, spelt(path)


def test_missing_keys_lead_to_what_surrounds_them() -> None:
    assert line_of(EVERY_SYNTAX, ("l", 0, "none")) == 14
    assert line_of(EVERY_SYNTAX, ("l", 1, "sub", "none")) == 18
    assert line_of(EVERY_SYNTAX, ("t", "y", 9)) == 9
    assert line_of(EVERY_SYNTAX, ("none",)) == 1


KEYS = st.sampled_from(["a", "b-1", "a.b", "ü", "x y", "", "[", "#", "=", '"', "'", "\\"])
VALUES = st.recursive(
    st.just(None) | st.sampled_from(['"]"', "'#'", '"""\n[x]\n"""', "inf", "1.5", "true"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
HEADERS = st.sampled_from(["", "[{}]", "[[{}]]"])
SPACES = st.sampled_from(["", " ", " # ]\n  "])


class Writer:
    """Writes values to TOML; for each None the number of the line."""

    def __init__(self) -> None:
        self.text = ""

    def value(self, value: Any, space: str) -> None:
        if value is None:
            self.text += str(self.text.count("\n") + 1)
        elif isinstance(value, str):
            self.text += value
        elif isinstance(value, list):
            self.text += "["
            for item in value:
                self.text += space
                self.value(item, space)
                self.text += ","
            self.text += space + "]"
        else:
            self.text += "{"
            for i, (key, item) in enumerate(value.items()):
                self.text += f"{', ' if i else ''}{quoted(key)} = "
                self.value(item, space)
            self.text += "}"


def quoted(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.lists(st.tuples(HEADERS, KEYS, KEYS, VALUES, SPACES), max_size=5))
def test_files_written_at_random(entries: list[tuple[str, str, str, Any, str]]) -> None:
    writer = Writer()
    for i, (header, table, key, value, space) in enumerate(entries):
        name = quoted(f"many{table}") if header == "[[{}]]" else quoted(f"one{table}{i}")
        writer.text += header.format(name) + "\n" + quoted(f"{key}{i}") + " = "
        writer.value(value, space)
        writer.text += " # = [\n"
    for path, line in leaves(tomllib.loads(writer.text)):
        assert line_of(writer.text, path) == line, spelt(path)
