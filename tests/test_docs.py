"""The examples in the README and the docs run and print what they say."""

from __future__ import annotations

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tiebreak.methods import SOLVERS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem == "jax-and-pytorch" and not (find_spec("jax") and find_spec("torch")):
        pytest.skip("JAX or PyTorch is not installed; make doors installs them")
    if page.stem == "larger-than-memory" and not (find_spec("distributed") and find_spec("zarr")):
        pytest.skip("dask or Zarr is not installed; make dask installs them")
    monkeypatch.setattr(SOLVERS, "added", {})  # a page may register a method
    failed, _ = doctest.testfile(str(page), module_relative=False)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if target.startswith("gallery/"):  # made by Sphinx from the scripts in examples/gallery
            source = Path(target).stem + ".py" if target != "gallery/index.rst" else "GALLERY_HEADER.rst"
            assert (ROOT / "examples" / "gallery" / source).exists(), f"{page.name} links to {target}"
        elif not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_paper_claims_name_tests_that_exist() -> None:
    text = (ROOT / "docs" / "paper-claims.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) >= 10
    for path, function in named:
        assert f"def {function}(" in (ROOT / path).read_text(), f"{path}::{function}"


def test_the_standing_assumptions_are_on_their_page() -> None:
    from tiebreak.engines.standing import STANDING

    text = (ROOT / "docs" / "certificates.md").read_text()
    for one in STANDING:
        assert f"\n* {one}\n" in text, one
