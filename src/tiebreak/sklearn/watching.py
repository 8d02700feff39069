"""Callbacks of scikit-learn, where its version has them: a task for each fit, one for each run, one for each look."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""

    with_callbacks = None

__all__ = ["CallbackSupportMixin", "run_of", "users_call", "watched"]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def users_call() -> int:
    """The ``stacklevel`` of the call that is neither ours nor scikit-learn's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("tiebreak", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level


def watched(fit: Fit) -> Fit:
    """``fit`` as a task of its own, with as many runs as it needs."""
    if with_callbacks is None:
        return fit

    @with_callbacks  # type: ignore[untyped-decorator]
    @wraps(fit)
    def method(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        with _task(estimator, estimator._init_callback_context(max_subtasks=None)):
            return fit(estimator, *args, **kwargs)

    return method  # type: ignore[no-any-return]


@contextmanager
def run_of(estimator: Any) -> Any:
    """A run within a fit: what ``solve`` wants as callback, None where nobody watches."""
    fit = getattr(estimator, "_callback_fit_ctx", None)
    if fit is None or not getattr(estimator, "_skl_callbacks", None):
        yield None
        return
    run = fit.subcontext(task_name="solve", max_subtasks=None)
    with _task(estimator, run):

        def seen(event: Any) -> bool:
            look = run.subcontext(task_name=f"update {event.k}")
            look.call_on_fit_task_begin(estimator=estimator)
            return bool(look.call_on_fit_task_end(estimator=estimator))

        yield seen


@contextmanager
def _task(estimator: Any, context: Any) -> Any:
    context.call_on_fit_task_begin(estimator=estimator)
    yield
    context.call_on_fit_task_end(estimator=estimator)
