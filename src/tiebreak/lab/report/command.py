"""``tiebreak reproduce NAME``: run one experiment, or all of them, and leave what is to be shown."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import traceback
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..progress import Progress
from ..reproduce import EXPERIMENTS
from ..reproduce.outcome import Option, Request, Size
from ..workshop import Workshop
from .terminal import claims_table
from .write import Report

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""


Experiments = Mapping[str, Callable[[], Any]]


def main(arguments: Sequence[str], experiments: Experiments = EXPERIMENTS) -> int:
    """The command; returns its exit code."""
    options = _options(arguments, experiments)
    chosen = _parser(options, list(experiments)).parse_args(arguments)
    asked = {name: load for name, load in experiments.items() if chosen.name in (name, "all")}
    report = Report(chosen.out, chosen.out if chosen.name == "all" else chosen.out / chosen.name)
    progress = Progress(sys.stderr, len(asked), silent=not (sys.stderr.isatty() or chosen.verbose))
    try:
        _run(asked, _request(chosen, options, progress), report, progress, chosen.verbose)
    except KeyboardInterrupt:
        progress.clear()
        again = shlex.join(["tiebreak", "reproduce", *arguments])
        print(f"\nInterrupted. What is done is kept; the same command goes on from there:\n  {again}", file=sys.stderr)
        return INTERRUPTED
    progress.clear()
    if report.outcomes:
        print(claims_table(report.outcomes, shutil.get_terminal_size().columns))
        print(f"The page: {report.page.resolve()}")
    for name, message in report.failures.items():
        print(f"tiebreak reproduce: {name} did not run: {message}", file=sys.stderr)
    return 1 if report.failures else 0


def _run(asked: Experiments, request: Request, report: Report, progress: Progress, verbose: bool) -> None:
    """Each experiment in turn; one that fails is named, and the others are run all the same."""
    for name, load in asked.items():
        progress.begin(name)
        try:
            report.add(load().run(request))
        except Exception as error:
            if verbose:
                progress.clear()
                traceback.print_exc()
            report.fail(name, f"{type(error).__name__}: {error}")
        progress.end()


def _request(chosen: Namespace, options: Sequence[Option], progress: Progress) -> Request:
    workshop = Workshop(chosen.out / "cache", chosen.jobs, progress.tell)
    size: Size = "quick" if chosen.quick else "full" if chosen.full else "normal"
    own = {option.name: getattr(chosen, _place(option)) for option in options}
    return Request(workshop, size, chosen.seed, chosen.data, own)


def _options(arguments: Sequence[str], experiments: Experiments) -> list[Option]:
    """The flags of the experiment that is asked for, or of all."""
    asked = next((one for one in arguments if one in (*experiments, "all")), None)
    found: dict[str, Option] = {}
    for load in [load for name, load in experiments.items() if asked in (name, "all")]:
        try:
            own = load().OPTIONS
        except ImportError:  # what it lacks is said when it is run
            continue
        found |= {option.name: option for option in own}
    return list(found.values())


def _parser(options: Sequence[Option], names: Sequence[str]) -> ArgumentParser:
    parser = ArgumentParser(
        "tiebreak reproduce",
        description="Run an experiment of the paper, check its claims, write figures, curves and a page.",
        epilog="An experiment's own flags: tiebreak reproduce NAME --help",
        allow_abbrev=False,
    )
    parser.add_argument("name", choices=(*names, "all"), metavar="NAME", help=f"{', '.join(names)} or all")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a few seconds an experiment")
    size.add_argument("--full", action="store_true", help="the paper's iteration counts")
    parser.add_argument("--seed", type=_natural, default=0, help="for whatever is random (default: 0)")
    parser.add_argument("--out", type=_folder, default="reproduction", metavar="DIR", help="default: reproduction")
    parser.add_argument("--jobs", type=_positive, default=1, help="so many processes (default: 1)")
    parser.add_argument(
        "--data",
        type=_existing,
        default=os.environ.get("TIEBREAK_DATA") or None,
        metavar="PATH",
        help="reference data and the authors' samples, where you have them (default: TIEBREAK_DATA)",
    )
    parser.add_argument("--verbose", action="store_true", help="progress without a terminal, tracebacks")
    own = parser.add_argument_group("flags of the experiment")
    for option in options:
        flag = "--" + option.name.replace("_", "-")
        if option.takes_value:
            own.add_argument(flag, dest=_place(option), metavar="VALUE", help=option.help)
        else:
            own.add_argument(flag, dest=_place(option), action="store_true", help=option.help)
    return parser


def _place(option: Option) -> str:
    """Where the parser leaves it; an experiment's ``--data`` of its own would not overwrite ours."""
    return f"own {option.name}"


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number from 0 on, got {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if _natural(text) == 0:
        raise ArgumentTypeError("must be at least 1")
    return int(text)


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise ArgumentTypeError(f"there is no {path}; leave it out to run without reference data")
    return path


def _folder(text: str) -> Path:
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise ArgumentTypeError(f"{path} is a file; name a folder")
    return path
