"""ARCHITECTURE.md as a test: its table is what the imports are, importing stays cheap, and nothing private leaks.

``python tests/test_architecture.py`` writes the columns of imports as they are into the page.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tiebreak"
ROW = re.compile(r"^\| ([\w -]+) \| (`.*?`) \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)

ENTRANCE = {"__init__", "__main__"}
"""The package itself: it shows the parts, and none of them may ask it for anything."""


class Row(NamedTuple):
    """A part of the page: its files and folders, and the parts that they import at once and later."""

    files: tuple[str, ...]
    at_once: set[str]
    later: set[str]


@cache
def table() -> dict[str, Row]:
    """The parts of the page, in its order."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    found = ROW.findall(page)
    return {
        name: Row(tuple(re.findall("`(.*?)`", own)), _names(now), _names(later)) for name, own, _, now, later in found
    }


def _names(cell: str) -> set[str]:
    return {name.strip() for name in cell.split(",")} - {"–", ""}


@cache
def files() -> dict[str, str]:
    """The files and folders of the page, in its order, each with its part."""
    return {one: name for name, row in table().items() for one in row.files}


def file_of(module: str) -> str:
    """The entry that a module, relative to the package, belongs to: the longest name of the page it begins with."""
    folders = module.split(".")
    for end in range(len(folders), 0, -1):
        if (name := "/".join(folders[:end])) in files() or (name := name + ".py") in files():
            return name
    return folders[0]


def paths() -> dict[str, list[Path]]:
    """What there is, by entry."""
    found: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        if module not in ENTRANCE:
            found.setdefault(file_of(module.removesuffix(".__init__")), []).append(path)
    return found


def imports(path: Path) -> tuple[set[str], set[str]]:
    """The entries that a file imports at once and later: relative and absolute imports, those for types alone not."""
    package = list(path.relative_to(SOURCE).parts[:-1])
    at_once: set[str] = set()
    later: set[str] = set()

    def visit(node: ast.AST, into: set[str]) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        into = later if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else into
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *(node.module or "").split(".")] if node.module else base
            if not node.level:
                if module[0] != "tiebreak":
                    return
                module = module[1:]
            for alias in node.names:
                own = SOURCE.joinpath(*module, alias.name)
                inside = own.is_dir() or own.with_suffix(".py").exists()
                into.add(file_of(".".join([*module, alias.name] if inside or not module else module)))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "tiebreak":
                    into.add(file_of(alias.name.partition(".")[2] or "__init__"))
        for child in ast.iter_child_nodes(node):
            visit(child, into)

    visit(ast.parse(path.read_text()), at_once)
    return at_once, later


def imports_of(part: str) -> tuple[set[str], set[str]]:
    """The parts that one imports at once, and later."""
    both = [imports(path) for one in table()[part].files for path in paths()[one]]
    at_once = {files().get(one, one) for now, _ in both for one in now} - {part}
    later = {files().get(one, one) for _, then in both for one in then} - {part} - at_once
    return at_once, later


def test_the_page_has_every_file_and_no_other() -> None:
    assert set(paths()) == set(files())


@pytest.mark.parametrize("part", sorted(table()))
def test_a_part_imports_what_the_page_says(part: str) -> None:
    assert imports_of(part) == (table()[part].at_once, table()[part].later)


@pytest.mark.parametrize("one", sorted(files()))
def test_imports_point_up_the_page(one: str) -> None:
    order = list(files())
    below = {name for path in paths()[one] for name in imports(path)[0] if order.index(name) > order.index(one)}
    assert not below, f"{one} imports what comes after it"


def test_nothing_in_the_library_imports_the_laboratory() -> None:
    for part, row in table().items():
        assert part in ("lab", "command") or "lab" not in row.at_once | row.later, part


def test_the_page_is_a_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 100


def library() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] != "lab"]


def test_nobody_asks_an_objective_or_a_set_for_its_class() -> None:
    """Outside their folders they are known by what they say of themselves; experiments know what they are made of."""
    import tiebreak as tb
    from tiebreak import objectives, sets

    bases = (tb.Objective, tb.Domain)
    shown = {name: getattr(part, name) for part in (objectives, sets) for name in part.__all__}
    kinds = {name for name, one in shown.items() if isinstance(one, type) and issubclass(one, bases)} - {"Objective"}
    found = []
    for path in library():
        if path.relative_to(SOURCE).parts[0] in ("objectives", "sets"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asks = isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass")
            compares = isinstance(node, ast.Compare) and "type(" in ast.unparse(node)
            if (asks or compares) and (kinds - {"Domain"}) & set(re.findall(r"\w+", ast.unparse(node))):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert not found


def test_one_context_variable_and_no_cache_without_an_owner() -> None:
    """The deadline passes through oracles; tables of types and the registries are the only things kept by a module."""
    text = {str(path.relative_to(SOURCE)): path.read_text() for path in library()}
    assert [name for name in text if "ContextVar(" in text[name]] == ["numerics/deadline.py"]
    kept = {name for name in text if re.search(r"^@(lru_)?cache\b|WeakKeyDictionary\(\)", text[name], re.MULTILINE)}
    assert kept <= {"storage.py", "fingerprint.py", "files/catalogue.py"}


def test_methods_are_advanced_in_one_place() -> None:
    """One loop: ``states.py``; methods that are made of others pass the update on, and the checks try single ones."""
    found = [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        if re.search(r"\b(solver|method)\.advance(_many)?\(", path.read_text())
    ]
    assert found == ["states.py", "testing/of_methods.py"]


def test_import_loads_nothing_heavy() -> None:
    """What costs time at import: scipy.linalg, scipy.optimize, the solvers, the extras. They load when first used."""
    code = "import sys, tiebreak; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    heavy = {
        "numba",
        "scipy.linalg",
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


@pytest.mark.parametrize(("domain", "engine"), [("tb.L1Ball(1.0)", "columns"), ("tb.Box(-1.0, 1.0)", "rows")])
def test_one_solve_loads_one_engine(domain: str, engine: str) -> None:
    code = f"""import sys, tiebreak as tb
problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 2.0, 3.0]], [1.5]), {domain})
assert tb.solve(problem).success
print(*sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("tiebreak.")}
    assert {name.split(".")[2] for name in loaded if re.fullmatch(r"tiebreak\.engines\.\w+\.solve", name)} == {engine}
    assert len(loaded) < 135  # a file more on every path is noticed here


def test_all_lists_what_is_public() -> None:
    import tiebreak as tb

    assert sorted(set(tb.__all__)) == sorted(tb.__all__)
    for name in tb.__all__:
        assert hasattr(tb, name), name
        thing = getattr(tb, name)
        if not name.startswith("_"):
            assert thing.__doc__, f"tiebreak.{name} has no docstring"


def _renewed(page: str) -> str:
    """The page with its last two columns as they should be."""

    def cell(names: set[str]) -> str:
        return ", ".join(name for name in table() if name in names) or "–"

    def row(found: re.Match[str]) -> str:
        name, own, what, *_ = found.groups()
        return f"| {name} | {own} | {what} | " + " | ".join(map(cell, imports_of(name))) + " |"

    return ROW.sub(row, page)


if __name__ == "__main__":
    (ROOT / "ARCHITECTURE.md").write_text(_renewed((ROOT / "ARCHITECTURE.md").read_text()))
