"""Files that claim to be results: nothing in them is run, and each is refused with a sentence."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.methods import SOLVERS
from tiebreak.storage import load_state, save_state

TREE = "tree.json"
Members = dict[str, bytes]


def problem() -> tb.Problem:
    A = np.arange(12.0).reshape(3, 4) % 5
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, A.sum(axis=1) / 10), tb.L1Ball(1.0))


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    """What a good file holds."""
    path = tmp_path_factory.mktemp("good") / "good.npz"
    tb.solve(problem(), "cg-bio-anytime", max_iter=7, tol_upper=1e-12).save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Members, **options: Any) -> None:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def array(value: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(value), **options)
    return file.getvalue()


def header(text: str, body: bytes = b"") -> bytes:
    """A member with a handmade header."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + body


class Spell:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def tree(change: Callable[[dict[str, Any]], Any]) -> Callable[[Members, str], Members]:
    """The file with its tree changed; ``change`` works in place or returns another."""

    def crafted(members: Members, command: str) -> Members:
        content = json.loads(members[TREE])
        other = change(content)
        text = json.dumps(content if other is None else other).replace("COMMAND", command)
        return {**members, TREE: text.encode()}

    return crafted


def fields(node: dict[str, Any], *way: str) -> dict[str, Any]:
    content = node["content"]["fields"]
    for name in way:
        content = content[name]["fields"]
    return content


def put(*way_and_value: Any) -> Callable[[Members, str], Members]:
    """The file with another value at a field."""
    *way, name, value = way_and_value
    return tree(lambda node: fields(node, *way).update({name: value}))


def member(name: str, content: Callable[[str], bytes]) -> Callable[[Members, str], Members]:
    return lambda members, command: {**members, name: content(command)}


SYSTEM = {"is": "system", "fields": {"command": "COMMAND"}}
CRAFTED: dict[str, tuple[Callable[[Members, str], Members], str]] = {
    # code
    "a function for a state": (put("state", SYSTEM), "state must be a CutState"),
    "a function of our own module": (
        put("state", {"is": "tiebreak.disk:os.system", "fields": {"command": "COMMAND"}}),
        "state must be a CutState",
    ),
    "a function for a point": (put("state", "point", SYSTEM), "point must be a Point"),
    "a call in the old format": (
        lambda members, command: {
            "tree.npy": array(json.dumps({"format": 1, "result": {"type": "os:system", "items": [command]}}))
        },
        "format 1 are not read",
    ),
    "a method that is a module": (tree(lambda node: node.update(method="os:system")), "is not known here"),
    "a method that is a path": (tree(lambda node: node.update(method="../../evil")), "is not known here"),
    "a pickled array": (
        member("array0.npy", lambda command: array(np.array([Spell(command)], dtype=object))), "holds no numbers"
    ),
    "a pickle": (member(TREE, lambda command: pickle.dumps(Spell(command))), "damaged"),
    "code in a header": (
        member("array0.npy", lambda command: header(f"__import__('os').system({command!r})\n")), "is damaged"
    ),
    "a class as a field": (put("__class__", "os.system"), "which has no '__class__'"),
    "another class for a choice": (
        put("state", "origin", {"is": "Popen", "fields": {"args": "COMMAND"}}), "origin must be a Origin"
    ),
    # types
    "a number for x": (put("x", 1.0), "x must be one of the"),
    "a text for x": (put("x", {"array": "array0"}), "x must be one of the"),
    "an array beyond the last": (put("x", {"array": 10**6}), "x must be one of the"),
    "an array before the first": (put("x", {"array": -1}), "x must be one of the"),
    "true for an array": (put("x", {"array": True}), "x must be one of the"),
    "a text for a number": (put("f", "1.0"), "f must be a float"),
    "true for a number": (put("nit", True), "nit must be a int"),
    "a huge number": (put("nit", 10**400), "nit must be a int"),
    "a number with too many digits": (
        lambda members, command: {**members, TREE: members[TREE].replace(b'"nit": 7', b'"nit": ' + b"7" * 5000)},
        "is damaged",
    ),
    "a status there is not": (put("status", "proved"), "status must be one of converged"),
    "a status that is a list": (put("status", ["converged"]), "status must be one of converged"),
    "texts for calls": (put("calls", {"upper.grad": "many"}), "calls.upper.grad must be a float"),
    "a list for calls": (put("calls", [1]), "calls must be a table"),
    "a trace of no rows": (put("trace", "every", 0), "every must be"),
    "an unknown field": (put("certificate", "f_best", 0.0), "which has no 'f_best'"),
    "a field less": (tree(lambda node: fields(node).pop("certificate") and None), "lacks certificate"),
    "whole numbers for x": (member("array0.npy", lambda command: array(np.arange(4))), "must be an array of float64"),
    "complex numbers": (member("array0.npy", lambda command: array(1j * np.ones(4))), "holds no numbers"),
    "texts in an array": (member("array0.npy", lambda command: array(["a"] * 4)), "holds no numbers"),
    "a table": (member("array0.npy", lambda command: array(np.zeros(4, dtype="f8,i4"))), "holds no numbers"),
    # sizes
    "a shape beyond the file": (
        member("array0.npy", lambda c: header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,)}\n")),
        "damaged",
    ),
    "a larger shape than the bytes": (
        member("array0.npy", lambda c: header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,)}\n")),
        "claims the shape",
    ),
    "a negative shape": (
        member("array0.npy", lambda c: header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}\n", b"8" * 8)),
        "claims the shape",
    ),
    "nothing where arrays should be": (member("array0.npy", lambda command: b""), "damaged"),
    # structure
    "no tree": (lambda members, command: {"a.npy": array(np.zeros(2))}, "is not a saved tiebreak result"),
    "another tree": (tree(lambda node: [node]), "is not a saved tiebreak result"),
    "another format": (tree(lambda node: node.update(format=99)), "has format 99"),
    "no method": (tree(lambda node: node.update(method=["cg-bio-anytime"])), "does not name a method"),
    "two methods": (put("method", "cg"), "names two methods"),
    "no content": (tree(lambda node: node.pop("content") and None), "must be a Result"),
    "lists without end": (member(TREE, lambda command: b"[" * 100_000), "damaged"),
    "tables without end": (
        put("state", "point", "images", json.loads('[' * 200 + ']' * 200)), "nested too deeply"
    ),
    "no UTF-8": (member(TREE, lambda command: b"\xff\xfe"), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CRAFTED)
def test_crafted_files_are_refused_and_run_nothing(kind: str, members: Members, tmp_path: Path) -> None:
    craft, words = CRAFTED[kind]
    path, proof = tmp_path / "crafted.npz", tmp_path / "ran"
    write(path, craft(members, f"touch {proof}"))
    with pytest.raises(ValueError, match=words) as caught:
        tb.Result.load(path)
    assert "crafted.npz" in str(caught.value) and len(str(caught.value)) < 500
    with pytest.raises(ValueError):
        tb.solve(problem(), "cg-bio-anytime", x0=path)
    assert not proof.exists()


def test_good_files_and_kinds(members: Members, tmp_path: Path) -> None:
    write(tmp_path / "good.npz", members)
    assert tb.Result.load(tmp_path / "good.npz").nit == 7
    assert len(CRAFTED) >= 40


def test_damaged_archives_are_refused(members: Members, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    write(path, members)
    whole = path.read_bytes()
    without_list = whole.replace(b"PK\x01\x02", b"PK\x09\x02")
    for content in (b"", whole[: len(whole) // 2], whole[:-30], b"PK" + whole[2:50], without_list):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"run\.npz"):
            tb.Result.load(path)
    flipped = bytearray(whole)
    flipped[whole.index(b"NUMPY") + 130] ^= 1  # the checksum finds it
    path.write_bytes(flipped)
    with pytest.raises(ValueError, match="is damaged: Bad CRC"):
        tb.Result.load(path)
    with pytest.raises(FileNotFoundError):
        tb.Result.load(tmp_path / "none.npz")


def test_nothing_is_unpacked_that_is_not_there(members: Members, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "bomb.npz"
    write(path, {**members, "array0.npy": array(np.zeros(10**7))}, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10**6
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="claims to hold 800"):
        tb.Result.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "w") as archive:  # the same name twice
        for content in (members[TREE], members[TREE]):
            archive.writestr(TREE, content)
    with pytest.raises(ValueError, match="two things of the same name"):
        tb.Result.load(path)


@pytest.mark.parametrize("name", SOLVERS)
def test_states_of_all_methods_survive_the_disk(name: str, tmp_path: Path) -> None:
    from tiebreak.testing.of_methods import flattened, same

    for updates in (1, 8):
        result = tb.solve(problem(), name, max_iter=updates, tol_upper=1e-14, tol_lower=1e-14)
        result.save(tmp_path / "run.npz")
        back = tb.Result.load(tmp_path / "run.npz")
        assert type(back.state) is type(result.state) and same(flattened(back.state), flattened(result.state))
        assert repr(back) == repr(result) and back.certificate == result.certificate


def test_states_whose_arrays_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Compiled code believes the sizes it is given."""
    state = tb.solve(problem(), "cg-bio-anytime", max_iter=7, tol_upper=1e-12).state
    point, ledger = state.point, state.origin.ledger
    average = ledger.bounds.average._replace(grad=np.zeros(3))
    ledger = replace(ledger, bounds=replace(ledger.bounds, average=average))
    bad = [
        replace(state, x=state.x[:-1]),
        replace(state, x=np.full(4, np.nan)),
        replace(state, anchor=np.zeros(40)),
        replace(state, point=point._replace(images=(point.images[0], point.images[1][:1]))),
        replace(state, point=point._replace(images=("text", point.images[1]))),
        replace(state, point=point._replace(images=(1.0, point.images[1]))),
        replace(state, point=point._replace(images=(point.images[0], np.full(3, np.nan)))),
        replace(state, point=point._replace(x=point.x[:2])),
        replace(state, run=replace(state.run, point=state.run.point._replace(images=(np.zeros(1),)))),
        replace(state, best_x=np.zeros((4, 1))),
        replace(state, best_x=np.full(4, np.inf)),
        replace(state, origin=replace(state.origin, ledger=ledger)),
    ]
    for one in bad:
        save_state(one, tmp_path / "bad.npz")
        with pytest.raises(ValueError, match="the file is damaged"):
            tb.solve(problem(), "cg-bio-anytime", x0=tmp_path / "bad.npz")


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_number_of_a_state_that_is_not_finite_ends_the_run_in_words() -> None:
    """The half-spaces of the method have no numbers then, and no factorisation is asked about them."""
    state = tb.solve(problem(), "mng", max_iter=6, tol_upper=1e-12).state
    result = tb.solve(problem(), "mng", x0=replace(state, M=-np.inf), max_iter=12, tol_upper=1e-12)
    assert result.status is tb.Status.NONFINITE and "NaN" in result.message


@dataclass(frozen=True, kw_only=True)
class OwnState(tb.State):
    before: np.ndarray
    weights: tuple[float, ...] = ()


class Own(tb.Solver[OwnState]):
    """A method of another package."""

    needs = frozenset({"lower.grad", "domain.lmo"})
    info = replace(SOLVERS["cg"].info, name="own")

    def start(self, problem: tb.Problem, x0: Any) -> OwnState:
        x = problem.domain.lmo(np.ones(problem.dim)) if x0 is None else x0
        return OwnState(x=x, before=x)

    def advance(self, problem: tb.Problem, state: OwnState) -> OwnState:
        s = problem.domain.lmo(problem.lower.grad(state.x))
        x = state.x + 2 / (state.k + 2) * (s - state.x)
        return OwnState(x=x, k=state.k + 1, before=state.x, weights=(*state.weights, 1.0))


class Hidden(Own):
    """It keeps something in its state that is no plain data."""

    info = replace(Own.info, name="hidden")

    def advance(self, problem: tb.Problem, state: OwnState) -> OwnState:
        return replace(super().advance(problem, state), weights=(problem,))


def test_methods_of_other_packages(tmp_path: Path) -> None:
    limits = {"tol_upper": 1e-12, "tol_lower": 1e-12}
    half = tb.solve(problem(), Own(), max_iter=6, **limits)
    half.save(tmp_path / "half.npz")
    rest = tb.solve(problem(), Own(), x0=tmp_path / "half.npz", max_iter=15, **limits)
    assert rest.x.tobytes() == tb.solve(problem(), Own(), max_iter=15, **limits).x.tobytes()
    with zipfile.ZipFile(tmp_path / "half.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    write(tmp_path / "half.npz", {**members, TREE: members[TREE].replace(b'"own"', b'"gone"')})
    with pytest.raises(ValueError, match="'gone' is not known here: import the package"):
        tb.Result.load(tmp_path / "half.npz")
    result = tb.solve(problem(), Hidden(), max_iter=6, **limits)
    with pytest.raises(TypeError, match="cannot save this result: a _WatchedObjective is no plain data"):
        result.save(tmp_path / "hidden.npz")
    replace(result, state=None).save(tmp_path / "hidden.npz")
    with pytest.raises(ValueError, match="a result without a state"):
        load_state(tmp_path / "hidden.npz")


def test_a_full_disk_leaves_the_old_file_and_no_part(members: Members, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "good.npz"
    write(path, members)
    before, result = path.read_bytes(), tb.Result.load(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"cannot write .*good\.npz: No space left on device"):
        result.save(path)
    with pytest.raises(OSError, match="cannot write"):
        result.save(tmp_path / "none" / "good.npz")
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
