"""The paper's experiments: each runs its methods, checks the paper's claims one by one, and leaves an `Outcome`.

An experiment is a module here with ``TITLE``, ``OPTIONS`` (flags of its own) and ``run(request) -> Outcome``; its
problem and data live in `tiebreak.experiments`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

EXPERIMENTS = ("toy", "regression", "fairness", "dictionary", "rates", "ill_posed", "lifelong", "multitask")
"""In the order of the page."""


def experiment(name: str) -> ModuleType:
    """The module of an experiment.

    Examples
    --------
    >>> experiment("toi")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: no experiment is called 'toi'; there are: toy, ...
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"no experiment is called {name!r}; there are: {', '.join(EXPERIMENTS)}")
    return import_module(f".{name}", __name__)
