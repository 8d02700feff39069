from __future__ import annotations

from importlib.util import find_spec

import pytest

from tiebreak.kernels import allow_all


@pytest.fixture(params=["numba", "numpy"])
def either_engine(request, monkeypatch) -> None:
    """The compiled loops, then those of NumPy."""
    if request.param == "numpy":
        monkeypatch.setenv("TIEBREAK_NO_NUMBA", "1")
    elif find_spec("numba") is None:
        pytest.skip("numba is not installed: only the NumPy loops can run")
    else:
        allow_all()
