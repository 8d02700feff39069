"""The command line: ``tiebreak run``, ``solve``, ``explore``, ``methods``, ``reproduce``, ``bench`` and ``warm-up``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from .kernels import Kernel, wanted
from .lab.comparison.command import add_bench, bench
from .methods import methods
from .problem import Problem
from .result import Result, assumed
from .solve import solve

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="tiebreak",
        description="Simple bilevel optimisation: the best point among all minimisers, with a proof.",
    )
    parser.add_argument("--version", action="version", version=f"tiebreak {version('tiebreak')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="solve problems that ship with the library and explain the answers")
    run.add_argument("--verbose", action="store_true", help="show progress")
    file = commands.add_parser(
        "solve", help="solve the problem of a TOML file, or an MPS or LP model (docs/solve-a-file.md)"
    )
    file.add_argument("file", metavar="FILE", help="the problem (.toml), or a model (.mps, .lp)")
    file.add_argument(
        "--then",
        action="append",
        metavar="OBJECTIVE",
        help="of a model: a further objective over its solutions, a row by name or an expression, as in "
        "--then 'max 2 x + 3 y'; may be given several times; 'none' leaves further objective rows of the file out",
    )
    for name, what in (
        ("--slack", "in its own units"),
        ("--relative-slack", "as a share of its optimum, 0.01 for 1 %%"),
    ):
        file.add_argument(
            name,
            action="append",
            type=float,
            default=[],
            metavar="NUMBER",
            help=f"how much worse than its optimum a level may be, {what}; once for each level but the last, in their "
            "order; goes before what the file says",
        )
    file.add_argument("--max-time", type=float, metavar="SECONDS", help="stop after so long, with what is proved then")
    file.add_argument("--out", metavar="PATH", help="where the answer goes, without ending: PATH.json and PATH.npz")
    file.add_argument("--check", action="store_true", help="look for mistakes in the file and its data, solve nothing")
    file.add_argument("--verbose", action="store_true", help="show progress")
    page = commands.add_parser("explore", help="a page to move the slack of a problem on (docs/explore.md)")
    page.add_argument("file", metavar="FILE", help="the problem (.toml), or a model (.mps, .lp)")
    page.add_argument("--out", metavar="PAGE", help="where the page goes; by default FILE.explore.html beside the file")
    page.add_argument("--open", action="store_true", help="open it in the browser")
    commands.add_parser("warm-up", help="compile all that numba compiles, once for this machine (docs/speed.md)")
    commands.add_parser("methods", help="list the methods with their references")
    commands.add_parser("reproduce", add_help=False, help="run the paper's experiments and check its claims")
    add_bench(commands.add_parser("bench", help="compare all methods on problems with known answers"))
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["reproduce"]:  # its flags depend on the experiment, so it reads them itself
        from .lab.report.command import main as reproduce

        return reproduce(arguments[1:])
    chosen = parser.parse_args(arguments)
    try:
        return _command(chosen)
    except KeyboardInterrupt as stop:
        if isinstance(found := getattr(stop, "result", None), Result):
            _report(found)
        print("tiebreak: interrupted", file=sys.stderr)
        return INTERRUPTED


def _command(chosen: argparse.Namespace) -> int:
    if chosen.command == "methods":
        print(methods())
        return 0
    if chosen.command == "bench":
        return bench(chosen)
    if chosen.command == "warm-up":
        return _warm_up()
    if chosen.command == "explore":
        from .explorer.command import explore_file

        return explore_file(chosen.file, chosen.out, chosen.open)
    if chosen.command == "solve":
        from .files.command import solve_file
        from .files.task import Options

        options = Options(tuple(chosen.slack), tuple(chosen.relative_slack), chosen.max_time)
        return solve_file(chosen.file, chosen.out, chosen.check, chosen.verbose, chosen.then, options)
    return _run(chosen.verbose)


def _warm_up() -> int:
    from .warm_up import warm_up

    if not wanted():
        print("tiebreak: numba is not installed (pip install 'tiebreak[fast]') or switched off", file=sys.stderr)
        return 1

    def tell(kernel: Kernel) -> None:
        how = f"compiled in {kernel.seconds:.1f} s" if kernel.built else "on disk already"
        print(f"  {kernel.name:20s} {how} ({kernel.group.what})", flush=True)

    print("Compiling, once for this machine:", flush=True)
    print(f"All there after {warm_up(tell):.1f} s.")
    return 0


def _run(verbose: bool) -> int:
    from .lab.experiments import regression, toy

    solved = [
        _show(
            "The paper's toy problem",
            "Among the points with the largest x1 + x2, minimise x1^2/2 - x1/2 + x2/10. The answer is (0.6, 0.4).",
            toy.problem(),
            1e-6,
            verbose,
        ),
        _show(
            "Over-parameterised regression (diabetes data, 285 features, 60 training rows, l1 norm at most 20)",
            "Many models fit the training rows exactly. Which of them validates best?",
            regression.diabetes(radius=20.0, rows=60),
            1e-6,
            verbose,
        ),
        _show(
            "The same with 265 training rows and l1 norm at most 1",
            "The constraint is active: is there anything left to choose?",
            regression.diabetes(),
            1e-6,
            verbose,
        ),
    ]
    return 0 if all(solved) else 1


def _show(title: str, question: str, problem: Problem, tol: float, verbose: bool) -> bool:
    print(f"{title}\n{'-' * len(title)}\n{question}\n", flush=True)
    result = solve(problem, tol_upper=tol, tol_lower=tol, max_iter=100_000, verbose=verbose)
    _report(result)
    return result.success


def _report(result: Result) -> None:
    print(result)
    print("\n  What is proved:", result.message)
    print(f"  {assumed(result.certificate)}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
