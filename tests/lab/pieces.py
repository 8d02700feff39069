"""Pieces for the workshop, in a module that other processes can import."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np


def count(folder: Path, n: int) -> dict[str, Any]:
    """Leaves a mark every time it is called."""
    (folder / f"called-{len(list(folder.glob('called-*')))}").touch()
    return {"square": np.arange(n) ** 2, "n": n}


def interrupted(folder: Path, n: int) -> dict[str, Any]:
    raise KeyboardInterrupt


def where() -> dict[str, Any]:
    return {"process": os.getpid(), "threads": os.environ["OMP_NUM_THREADS"]}


def slow(seconds: float) -> dict[str, Any]:
    time.sleep(seconds)
    return {"slept": seconds}
