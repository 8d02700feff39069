"""One Chromium for all tests of the page; without one they are left out, unless ``make browser`` asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, find_browser

from sample_outcome import sample
from tiebreak.lab.report import Report


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_browser()
    if program is None:
        message = "there is no Chromium: the tests of the report page are left out (make browser installs it)"
        if os.environ.get("TIEBREAK_BROWSER") == "required":
            pytest.fail(message)
        pytest.skip(message)
    started = Chromium(program, tmp_path_factory.mktemp("chromium") / "profile")
    yield started
    started.close()


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    report = Report(tmp_path_factory.mktemp("page"))
    report.add(sample())
    report.add(sample("second"))
    report.fail("third", "it <b>broke</b>")
    return report.page
