"""``tiebreak reproduce NAME``: run one experiment, or all of them, and leave what is to be shown."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import traceback
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from ..reproduce import EXPERIMENTS, experiment
from ..reproduce.outcome import Option, Request, Size
from ..reproduce.workshop import Workshop
from .terminal import Progress, claims_table
from .write import Report

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = _options(arguments)
    chosen = _parser(options).parse_args(arguments)
    names = EXPERIMENTS if chosen.name == "all" else (chosen.name,)
    report = Report(chosen.out, chosen.out if chosen.name == "all" else chosen.out / chosen.name)
    terminal = sys.stderr.isatty()
    progress = Progress(sys.stderr, len(names), rewrite=terminal, silent=not (terminal or chosen.verbose))
    try:
        _run(names, _request(chosen, options, progress), report, progress, chosen.verbose)
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


def _run(names: Sequence[str], request: Request, report: Report, progress: Progress, verbose: bool) -> None:
    """Each experiment in turn; one that fails is named, and the others are run all the same."""
    for name in names:
        progress.begin(name)
        try:
            report.add(experiment(name).run(request))
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


def _options(arguments: Sequence[str]) -> list[Option]:
    """The flags of the experiment that is asked for, or of all."""
    asked = next((one for one in arguments if one in (*EXPERIMENTS, "all")), None)
    found: dict[str, Option] = {}
    for name in EXPERIMENTS if asked == "all" else [asked] if asked else []:
        try:
            own = experiment(name).OPTIONS
        except ImportError:  # what it lacks is said when it is run
            continue
        found |= {option.name: option for option in own}
    return list(found.values())


def _parser(options: Sequence[Option]) -> ArgumentParser:
    parser = ArgumentParser(
        "tiebreak reproduce",
        description="Run an experiment of the paper, check its claims, write figures, curves and a page.",
        epilog="An experiment's own flags: tiebreak reproduce NAME --help",
        allow_abbrev=False,
    )
    parser.add_argument("name", choices=(*EXPERIMENTS, "all"), metavar="NAME", help=f"{', '.join(EXPERIMENTS)} or all")
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
