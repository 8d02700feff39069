"""The paper's experiments: each runs its methods, checks the paper's claims one by one, and leaves an `Outcome`.

An experiment is a module here with ``TITLE``, ``OPTIONS`` (flags of its own) and ``run(request) -> Outcome``; its
problem and data live in `tiebreak.lab.experiments`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

EXPERIMENTS: Mapping[str, Callable[[], Any]] = {
    name: partial(import_module, f".{name}", __name__)
    for name in ("toy", "regression", "fairness", "dictionary", "rates", "ill_posed", "lifelong", "multitask")
}
"""How to load each one, in the order of the page."""
