"""What the site promises: every public name has an example and a place; every script of the gallery keeps its shape."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tiebreak as tb

ROOT = Path(__file__).resolve().parent.parent
DOCS, GALLERY = ROOT / "docs", ROOT / "examples" / "gallery"
NAMES = sorted(name for name in tb.__all__ if name != "__version__")


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name: str) -> None:
    """A heading of numpydoc and a line that the doctests run; of a module, in what it holds."""
    thing = getattr(tb, name)
    if not isinstance(thing, ModuleType):
        text = thing.__doc__ or ""
        assert re.search(r"^ *Examples\n *-{8}\n", text, re.MULTILINE), f"{name} has no section of examples"
        assert ">>> " in text.split("Examples\n")[1]


def test_every_name_on_the_page_of_the_api_has_an_example() -> None:
    """Also those of modules; what needs packages that are not installed is left out."""
    for module, block in re.findall(r"currentmodule:: (\S+)\n(.*?)```", (DOCS / "api.md").read_text(), re.DOTALL):
        try:
            part = import_module(module)
        except ImportError:
            continue
        for name in re.findall(r"^   (\w+)$", block, re.MULTILINE):
            text = getattr(part, name).__doc__ or ""
            assert re.search(r"^ *Examples\n *-{8}\n", text, re.MULTILINE), (
                f"{module}.{name} has no section of examples"
            )


def listed(page: str) -> list[str]:
    """The names of the tables that autosummary makes on a page."""
    return re.findall(r"^   (\w+)$", (DOCS / page).read_text(), re.MULTILINE)


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    text = (DOCS / "api.md").read_text()
    assert set(NAMES) - set(listed("api.md")) == {"steps", "testing"}
    assert "`tiebreak.steps`" in text
    assert "`tiebreak.testing`" in text


@pytest.mark.parametrize(("page", "base", "but"), [("sets.md", "Domain", set()), ("objectives.md", "Objective", set())])
def test_every_set_and_objective_is_in_its_table(page: str, base: str, but: set[str]) -> None:
    kind = getattr(tb, base)
    public = {name for name in NAMES if isinstance(getattr(tb, name), type) and issubclass(getattr(tb, name), kind)}
    named = set(re.findall(r"`~tiebreak\.(\w+)`", (DOCS / page).read_text()))
    assert public - {base} - but <= named


A = np.random.default_rng(0).normal(size=(6, 8))
b = np.round(3 * A[:, 0])
OBJECTIVES = {
    "Linear": tb.Linear(A[0]),
    "Quadratic": tb.Quadratic(A.T @ A, A[0]),
    "SquaredNorm": tb.SquaredNorm(dim=8),
    "LeastSquares": tb.LeastSquares(A, b),
    "Logistic": tb.Logistic(A, b > 0),
    "SquaredHinge": tb.SquaredHinge(A, b > 0),
    "Poisson": tb.Poisson(A, np.abs(b)),
    "Huber": tb.Huber(A, b, 0.5),
    "Softmax": tb.Softmax(A[:, :4], [0, 1, 0, 1, 1, 0]),
    "L1Norm": tb.L1Norm(),
    "MaxAffine": tb.MaxAffine(A, b),
    "GroupNorm": tb.GroupNorm([[0, 1], [2, 3], [4, 5], [6, 7]]),
}
SETS = {
    "Space": tb.Space(),
    "Box": tb.Box(-1, 1),
    "Polyhedron": tb.Polyhedron(A_ub=A, b_ub=np.ones(6), bounds=(-1, 1)),
    "Simplex": tb.Simplex(),
    "L1Ball": tb.L1Ball(1.0),
    "KSparse": tb.KSparse(2, 1.0),
    "L2Ball": tb.L2Ball(1.0),
    "LpBall": tb.LpBall(3.0, 1.0),
    "GroupBall": tb.GroupBall([[0, 1], [2, 3], [4, 5], [6, 7]], 1.0),
    "NuclearBall": tb.NuclearBall((2, 4), 1.0),
}


def column(page: str, name: str) -> str:
    """The last cell of a row."""
    row = re.search(rf"^\| \{{py:obj\}}`~tiebreak\.{name}` .*\| (.*?) \|$", (DOCS / page).read_text(), re.MULTILINE)
    assert row is not None
    return row[1]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_table_of_objectives_says_what_engines_take(name: str) -> None:
    engine = tb.plan(tb.Problem(tb.SquaredNorm(dim=8), OBJECTIVES[name], tb.Box(-1, 1))).engine
    assert column("objectives.md", name).startswith("yes") == bool(engine)


@pytest.mark.parametrize("name", SETS)
def test_the_table_of_sets_names_the_engine(name: str) -> None:
    engine = tb.plan(tb.Problem(tb.SquaredNorm(dim=8), tb.LeastSquares(A[:4], b[:4]), SETS[name])).engine
    assert (engine if engine != "cones" else "curved sets") in column("sets.md", name)


SCRIPTS = sorted(GALLERY.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_gallery_script_has_a_title_and_a_picture(script: Path) -> None:
    text = script.read_text()
    title, line, *_ = (ast.get_docstring(ast.parse(text)) or "").split("\n")
    assert title
    assert line == "=" * len(title)
    assert "plt.show()" in text
    assert "naive" in text  # beside ours
    assert "# %%" in text


def test_every_page_is_in_a_table_of_contents() -> None:
    """Sphinx says the same, but only where it is installed."""
    named = {"index", "gallery/index"}
    for page in DOCS.glob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            named |= {line.strip() for line in block.split("\n") if line.strip() and not line.startswith(":")}
    assert {page.stem for page in DOCS.glob("*.md")} <= named
