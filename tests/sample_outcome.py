"""Outcomes that nothing but their writers know: every kind of curve, and text that means harm."""

from __future__ import annotations

import numpy as np

from tiebreak.lab.reproduce.evidence import Evidence
from tiebreak.lab.reproduce.outcome import Addition, Claim, Curve, Difference, Outcome, Panel, Table

SCRIPT = "</script><script>window.pwned = 1</script>"
IMAGE = '<img src=x onerror="window.pwned = 2">'
HOSTILE = (SCRIPT, IMAGE, "\"'><b>&amp;", "{{ 7 * 7 }}${7*7}", "<!--", "\u2028 _$x_$")


def sample(name: str = "sample") -> Outcome:
    """Two axes, values that no log axis takes, values that are none, a bound, a reference, shapes."""
    k = np.arange(30.0)
    seconds = 0.01 * k**1.5
    falling, odd = 1 / (k + 1) ** 2, 0.3 / (k + 1)
    odd[[5, 6, 20]] = [0.0, -1.0, 0.0]
    odd[10], odd[11] = np.nan, np.inf
    gap = Panel(
        "gap",
        "A gap",
        "f − f*",
        (
            Curve("falling", {"updates": k, "seconds": seconds}, falling),
            Curve("odd", {"updates": k, "seconds": seconds}, odd),
            Curve("bound", {"updates": k[1:]}, 4 / k[1:], "bound"),
            Curve("reference", {"updates": k[[0, -1]], "seconds": seconds[[0, -1]]}, np.full(2, 1e-2), "truth"),
        ),
        caption="Two of the curves have something to hide.",
    )
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0.0]])
    turn = np.linspace(0, 6, 200)
    plane = Panel(
        "plane",
        "A plane",
        "x2",
        (
            Curve("square", {"x1": square[:, 0]}, square[:, 1], "shape"),
            Curve("spiral", {"x1": 0.5 + np.cos(turn) / (2 + turn)}, 0.5 + np.sin(turn) / (2 + turn)),
            Curve("end", {"x1": np.array([0.5])}, np.array([0.5]), "truth"),
        ),
        log=False,
        equal_axes=True,
        window=(0.4, 0.6, 0.45, 0.65),
    )
    hostile = Panel(
        "../hostile",
        HOSTILE[0],
        HOSTILE[1],
        tuple(Curve(label, {HOSTILE[2]: k, HOSTILE[3]: k}, k + i + 1) for i, label in enumerate(HOSTILE)),
        caption=HOSTILE[1],
    )
    nothing = Panel("nothing", "Nothing to take the logarithm of", "y", (Curve("zero", {"k": k}, 0 * k),), log_x=True)
    return Outcome(
        name,
        f"A sample called {name}",
        ("A paragraph.", HOSTILE[0]),
        (
            Claim(
                quote="It falls", where="Section 1", here="1.1e-3", evidence=Evidence((1.0,) * 10), note="as it should"
            ),
            Claim(
                quote=HOSTILE[0],
                where=HOSTILE[4],
                here=HOSTILE[2],
                evidence=Evidence((-1.0,), "always"),
                note=HOSTILE[3],
            ),
            Claim(quote="Nobody knows", where="–", here="–", evidence=Evidence((1.0,), lacking=("not in this run",))),
        ),
        (gap, plane, hostile, nothing),
        (Table("Ends", ("method", HOSTILE[1]), (("falling", 1.25e-3), (HOSTILE[0], 7)), HOSTILE[1]),),
        {"radius": np.float64(2), "limit": np.inf, "note": HOSTILE[0], "sizes": np.array([1, 2])},
        seed=3,
        size="quick",
        differences=(Difference(HOSTILE[1], "the code", "folder/file.m:12", HOSTILE[2]),),
        additions=(Addition(statement=HOSTILE[1], here="0.5", evidence=Evidence((0.5,), "always"), note=HOSTILE[0]),),
    )
