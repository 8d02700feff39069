"""The text of a model file, once it is known to be a text and to fit into memory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .errors import FileProblem

SUFFIXES = (".mps", ".lp")
LARGEST = 2**30
NEEDED = 30
"""So many bytes of memory are wanted for each byte of a file; it may have ``LARGEST`` of them."""


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def text_of_model(file: Path) -> str:
    """The text of a model, once it is known to fit into memory."""
    if file.suffix.lower() not in SUFFIXES:
        raise FileProblem(file, 0, "", f"a model must end in {' or '.join(SUFFIXES)}")
    if not file.is_file():
        raise FileProblem(file, 0, "", "there is no such file")
    size, most = file.stat().st_size, min(LARGEST, _memory() // NEEDED)
    if size > most:
        raise FileProblem(file, 0, "", f"has {size} bytes; with the memory that is there a model may have {most}")
    raw = file.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raise FileProblem(file, 0, "", "is compressed; unpack it first")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = raw[: error.start].count(b"\n") + 1
        raise FileProblem(file, at, "", "is not UTF-8 text; save it with that encoding") from None
    text = text.replace("\r\n", "\n")
    for number, line in enumerate(text.split("\n"), 1):
        if odd := _CONTROL.search(line):
            raise FileProblem(file, number, "", f"holds the control character {odd[0]!r}")
    return text


def _memory() -> int:
    """The memory of this machine in bytes, or much where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return LARGEST * NEEDED
