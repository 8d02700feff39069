"""Do the bounds hold, and how tight are they? Random problems with answers known independently of tiebreak.

Run as ``python benchmarks/certificates.py [instances]``; prints Markdown.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiebreak as tb
from known.soundness import METHODS, Tally, check_run, sweep


def main(instances: int = 320, max_iter: int = 300) -> int:
    tally, dropped, started = Tally(), [], time.perf_counter()
    widths = defaultdict(list)  # (method, set) -> relative widths of the brackets on g* and f*
    converged = defaultdict(int)
    for set_kind, _, _, known in sweep(instances, 1, dropped):
        for method in METHODS:
            name = method if isinstance(method, str) else method.info.name
            result = check_run(tally, known, method, max_iter=max_iter, tol_upper=1e-4, tol_lower=1e-4)
            c = result.certificate
            lower = (c.g_upper - c.g_lower) / (1 + abs(known.g_star))
            upper = np.nan
            if known.problem.upper.convex:
                upper = max(known.f_star - c.f_lower, 0.0) / (1 + abs(known.f_star))
            widths[name, set_kind].append((lower, upper, np.isfinite(c.f_upper)))
            converged[name] += result.status is tb.Status.CONVERGED

    print(f"# Certificates against known values\n\ntiebreak {tb.__version__}, {max_iter} updates at most\n")
    print("| | |\n|---|---|")
    print(f"| instances | {instances} |\n| dropped: no accurate reference | {len(dropped)} |")
    print(f"| runs | {instances * len(METHODS)} |\n| bounds checked | {tally.checked} |")
    print(f"| **violated** | **{len(tally.violations)}** |")
    for name, count in converged.items():
        print(f"| proved to 1e-4 on both levels, {name} | {count} |")
    print(f"| seconds | {time.perf_counter() - started:.0f} |")
    print("\nWidths at the end of the run, relative to 1 + abs(value): g_upper - g_lower, f* - f_lower.\n")
    print("| method | set | runs | g: median | g: max | f: median | f: max | f_upper finite |")
    print("|---|---|---|---|---|---|---|---|")
    for (name, set_kind), rows in sorted(widths.items()):
        lower, upper, finite = np.array(rows, dtype=float).T
        upper = upper[~np.isnan(upper)]
        f_cells = f"{np.median(upper):.1e} | {upper.max():.1e}" if upper.size else "- | -"
        print(
            f"| {name} | {set_kind} | {lower.size} | {np.median(lower):.1e} | {lower.max():.1e} "
            f"| {f_cells} | {int(finite.sum())} |"
        )
    for violation in tally.violations:
        print(f"\nVIOLATED {violation}")
    for reason in dropped:
        print(f"\ndropped: {reason}")
    return int(bool(tally.violations))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
