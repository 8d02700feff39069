"""ARCHITECTURE.md as a test: dependencies point one way, importing stays cheap, and nothing private leaks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tiebreak as tb

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tiebreak"

# Each part of the library, and the parts it may import; the order is the way data flows.
LAYERS = {
    "arrays": set(),
    "disk": set(),
    "deadline": set(),
    "usercode": set(),
    "kernels": {"arrays"},
    "objectives": {"arrays", "deadline", "kernels", "usercode"},
    "sets": {"arrays", "deadline", "kernels", "usercode"},
    "problem": {"arrays", "objectives", "sets"},
    "composite": {"arrays", "objectives", "problem", "sets"},
    "fingerprint": {"objectives", "problem", "sets"},
    "origin": {"arrays", "exact", "fingerprint"},
    "points": {"arrays", "objectives"},
    "steps": {"arrays", "problem"},
    "exact": {"arrays", "composite", "deadline", "kernels", "objectives", "sets", "problem"},
    "solvers": {
        "arrays", "composite", "exact", "kernels", "objectives", "origin", "sets", "problem", "points", "steps",
    },
    "concave": set(),
    "linearisation": {"arrays", "objectives"},
    "certificate": {
        "arrays", "composite", "concave", "exact", "linearisation", "objectives", "origin", "problem", "usercode",
    },
    "callbacks": {"arrays", "certificate", "origin", "problem", "solvers", "storage"},
    "witness": {"arrays", "objectives", "sets", "usercode"},
    "watch": {"arrays", "deadline", "objectives", "sets", "problem", "usercode", "witness"},
    "examination": {"arrays", "deadline", "objectives", "problem", "sets", "usercode", "watch"},
    "result": {"arrays", "callbacks", "certificate", "problem", "solvers", "verify", "storage"},
    "verify": {"arrays", "lexicographic", "objectives", "problem", "result", "sets"},
    "storage": {"disk", "result", "solvers"},
    "resume": {
        "arrays", "certificate", "fingerprint", "origin", "points", "problem", "result", "solvers", "storage",
    },
    "choose": {"composite", "exact", "problem", "solvers", "steps"},
    "loop": {
        "arrays", "callbacks", "certificate", "deadline", "exact", "examination", "origin", "problem", "result",
        "resume", "solvers", "watch",
    },
    "solve": {
        "arrays", "callbacks", "choose", "deadline", "examination", "loop", "problem", "result", "resume", "solvers",
        "watch",
    },
    "lexicographic": {"arrays", "deadline", "exact", "objectives", "problem", "result", "sets", "solve", "verify"},
    "tradeoff": {"arrays", "deadline", "exact", "problem", "result", "solve"},
    "testing": {"arrays", "objectives", "problem", "sets", "solve", "solvers", "storage", "watch"},
    "comparison": {"arrays", "disk", "objectives", "problem", "sets", "solvers", "steps", "watch"},
    "experiments": {"arrays", "objectives", "problem", "sets"},
    "reproduce": {
        "arrays", "certificate", "disk", "experiments", "objectives", "problem", "result", "sets", "solve", "solvers",
        "steps", "tradeoff",
    },
    "files": {
        "arrays", "choose", "disk", "lexicographic", "objectives", "problem", "result", "sets", "solve", "solvers",
        "steps", "tradeoff",
    },
    "report": {"arrays", "disk", "reproduce"},
    "cli": {"comparison", "experiments", "files", "problem", "report", "result", "solve", "solvers"},
}  # fmt: skip


def parts() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part not in ("__init__", "__main__"):
            found.setdefault(part, []).append(path)
    return found


def imported_parts(path: Path) -> set[str]:
    depth = len(path.relative_to(SOURCE).parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {name.split(".")[0] for name in names}
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("tiebreak") for alias in node.names), f"{path}: import relatively"
    return found


def test_every_part_has_a_layer() -> None:
    assert set(parts()) == set(LAYERS)


@pytest.mark.parametrize("part", LAYERS)
def test_dependencies_point_one_way(part: str) -> None:
    for path in parts()[part]:
        assert imported_parts(path) - {part} <= LAYERS[part], path.relative_to(ROOT)


def test_architecture_page_names_every_part() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    for part in LAYERS:
        assert re.search(rf"`{part}(\.py|/)?`", page), f"ARCHITECTURE.md does not mention {part}"


def test_import_loads_nothing_heavy() -> None:
    """What costs time at import: scipy.optimize, the solvers, the extras. They load when first used."""
    code = "import sys, tiebreak; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    heavy = {
        "numba",
        "scipy.optimize",
        "highspy",
        "clarabel",
        "piqp",
        "sklearn",
        "cvxpy",
        "pandas",
        "rich",
        "matplotlib",
    }
    assert not heavy & loaded


def test_all_lists_what_is_public() -> None:
    assert sorted(set(tb.__all__)) == sorted(tb.__all__)
    for name in tb.__all__:
        assert hasattr(tb, name), name
        thing = getattr(tb, name)
        if not name.startswith("_"):
            assert thing.__doc__, f"tiebreak.{name} has no docstring"
