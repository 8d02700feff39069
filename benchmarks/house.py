"""The plan of the house in numbers, for one checkout or several side by side.

    python benchmarks/house.py [OTHER/src ...]

Files and lines of the library and of its laboratory; modules that one exact solve imports; how often one solve asks
whether an engine applies; `isinstance` on sets and objectives outside their folders; context variables and caches of
modules; places where methods are advanced.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LABORATORY = {"lab", "experiments", "reproduce", "comparison", "report"}
QUESTIONS = (
    "columns_apply", "rows_apply", "smooth_apply", "cones_apply", "conic_applies", "chunks_apply", "is_lifted",
    "has_rows", "why_not_exact", "why_not_lifted", "vertices_pay",
)  # fmt: skip

SOLVE = f"""
import sys
import numpy as np
import tiebreak as tb
before = sum(name.split(".")[0] == "tiebreak" for name in sys.modules)
rng = np.random.default_rng(0)
lower = tb.LeastSquares(rng.normal(size=(5, 12)), rng.normal(size=5))
asked = dict.fromkeys({QUESTIONS!r}, 0)
def look(frame, event, _):
    if event == "call" and frame.f_code.co_name in asked and "tiebreak" in frame.f_code.co_filename:
        asked[frame.f_code.co_name] += 1
problem = tb.Problem(tb.SquaredNorm(), lower, DOMAIN)
sys.setprofile(look)
result = tb.solve(problem)
sys.setprofile(None)
assert result.success and result.method == "exact"
loaded = sum(name.split(".")[0] == "tiebreak" for name in sys.modules)
print(loaded, loaded - before, sum(asked.values()), max(asked.values()))
"""
DOMAINS = {"columns": "tb.L1Ball(1.0)", "rows": "tb.Box(-1.0, 1.0)"}


def solved(source: Path, domain: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(source)}
    code = SOLVE.replace("DOMAIN", domain)
    return subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout


def classes(folder: Path, base: str) -> set[str]:
    """Names of the classes of a folder that are made of a base, directly or not; the base itself is not among them."""
    trees = [ast.parse(path.read_text()) for path in folder.rglob("*.py")]
    made = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {base}
    for _ in made:
        found |= {node.name for node in made if found & {ast.unparse(one).split("[")[0] for one in node.bases}}
    return found - {base}


def asks_for_classes(files: list[Path], source: Path) -> int:
    kinds = classes(source / "objectives", "Objective") | classes(source / "sets", "Domain")
    count = 0
    for path in files:
        if path.relative_to(source).parts[0] in ("objectives", "sets"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
                count += bool(kinds & set(re.findall(r"\w+", ast.unparse(node))))
    return count


def figures(source: Path) -> dict[str, object]:
    """The numbers of one checkout."""
    package = source / "tiebreak"
    files = sorted(package.rglob("*.py"))
    laboratory = [path for path in files if path.relative_to(package).parts[0] in LABORATORY]
    library = [path for path in files if path not in laboratory]
    text = {path: path.read_text() for path in files}
    by_columns, by_rows = (solved(source, DOMAINS[way]).split() for way in ("columns", "rows"))
    return {
        "files, library": len(library),
        "lines, library": sum(text[path].count("\n") for path in library),
        "files, laboratory": len(laboratory),
        "lines, laboratory": sum(text[path].count("\n") for path in laboratory),
        "files of over 250 lines, library": sum(text[path].count("\n") > 250 for path in library),
        "modules of one solve by columns (after import)": f"{by_columns[0]} ({by_columns[1]})",
        "modules of one solve by rows (after import)": f"{by_rows[0]} ({by_rows[1]})",
        "questions of one solve by columns (most often one)": f"{by_columns[2]} ({by_columns[3]})",
        "questions of one solve by rows (most often one)": f"{by_rows[2]} ({by_rows[3]})",
        "isinstance on sets and objectives elsewhere": asks_for_classes(library, package),
        "context variables": sum(text[path].count("ContextVar(") for path in library),
        "caches of modules": sum(
            len(re.findall(r"^@(?:lru_)?cache\b|WeakKeyDictionary\(\)", text[path], re.MULTILINE)) for path in library
        ),
        "places where methods are advanced": sum(
            bool(re.search(r"\b(solver|method)\.advance(_many)?\(", text[path])) for path in files
        ),
    }


def main() -> None:
    sources = [*map(Path, sys.argv[1:]), HERE.parent / "src"]
    found = [figures(source) for source in sources]
    for name in found[0]:
        print(f"{name:<52}" + "".join(f"{one[name]!s:>12}" for one in found))


if __name__ == "__main__":
    main()
