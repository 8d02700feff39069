"""Linear programmes solved again where an answer is none: a hot start can be a bad start."""

from __future__ import annotations

from collections.abc import Iterator

from .deadline import OutOfTime, check, remaining
from .highs import WAYS, Model, Status


def answers(model: Model) -> Iterator[Status]:
    """The status after a hot solve, then after colder and slower ones, each within what is left of the time."""
    unbounded = False
    for way in WAYS:
        check()
        if way == "interior" and unbounded:  # cold simplex runs have said so, and interior points go on for ever there
            return
        status = model.run(remaining(), way)
        if status is None:
            continue
        if status.out_of_time:
            raise OutOfTime
        unbounded |= status.unbounded and way != "hot"
        yield status
