"""Models in MPS and LP files: data as written, further objectives, and everything that HiGHS's reader passes over."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from fuzzing.cases import use_problem
from fuzzing.seeds import LP, MODELS, MPS
from fuzzing.spoil import spoilt_text
from tiebreak.cli import main
from tiebreak.files import FileProblem, ModelProblem, read_model_file

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def written(folder: Path, text: str, suffix: str = ".mps") -> Path:
    path = folder / f"model{suffix}"
    path.write_text(text)
    return path


def mistakes(folder: Path, text: str, suffix: str = ".mps", then: list[str] | None = None) -> list[tuple[int, str]]:
    with pytest.raises(ModelProblem) as caught:
        read_model_file(written(folder, text, suffix), then)
    return caught.value.mistakes


def test_example_goes_by_the_objective_rows_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(EXAMPLES / "dispatch.mps"), "--out", str(tmp_path / "a")]) == 0
    out = capsys.readouterr().out
    assert "min cost = 420 " in out and "min co2 = 8.1 " in out and "wind[1] = 4" in out
    answer = json.loads((tmp_path / "a.json").read_text())
    assert [(one["name"], one["sense"]) for one in answer["objectives"]] == [("cost", "min"), ("co2", "min")]
    assert answer["names"] == ["wind[1]", "wind[2]", "coal[1]", "coal[2]", "gas[1]", "gas[2]"]


def test_then_takes_rows_and_expressions(tmp_path: Path) -> None:
    then = ["--then", "co2", "--then", "[ coal[1]^2 + coal[2]^2 ] / 2", "--then", "max 2gas[2] - 1.5e1 wind[1] + 1"]
    assert main(["solve", str(EXAMPLES / "dispatch.mps"), "--out", str(tmp_path / "a"), *then]) == 0
    answer = json.loads((tmp_path / "a.json").read_text())
    np.testing.assert_allclose(answer["x"], [4, 6, 2.5, 2.5, 3.5, 5.5], atol=1e-9)
    assert [round(one["value"], 9) for one in answer["objectives"]] == [420, 8.1, 6.25, -48]
    last = answer["objectives"][-1]
    assert last["sense"] == "max" and last["lower"] <= -48 + 1e-12 and last["upper"] >= -48 - 1e-12


def test_none_leaves_further_rows_out_and_toml_takes_no_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", str(EXAMPLES / "dispatch.mps"), "--out", str(tmp_path / "a"), "--then", "none"]) == 0
    assert "co2" not in capsys.readouterr().out
    assert main(["solve", str(EXAMPLES / "chain.toml"), "--out", str(tmp_path / "b"), "--then", "x"]) == 2
    assert "--then is for models" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(8))
def test_data_are_read_as_they_are_written(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    n, m = 6, 4
    A = np.where(rng.random((m, n)) < 0.6, rng.standard_normal((m, n)) * 10.0 ** rng.integers(-6, 7, (m, n)), 0)
    A[:, seed % n] = 1 / 3
    costs, half = rng.standard_normal((3, n)) * 1e3, np.triu(rng.standard_normal((n, n)))
    constants, upper = rng.standard_normal(3), rng.random(n) + 2
    low = A @ (upper / 2) - rng.random(m)
    high = np.where(rng.random(m) < 0.5, np.inf, low + 1)
    names = [f"x[{j}]" for j in range(n)]
    rows = [f" N  f{k}" for k in range(3)] + [f" G  r{i}" for i in range(m)]
    columns = [
        f" {names[j]} {row} {float(value)!r}"
        for j in range(n)
        for row, value in [*((f"f{k}", costs[k, j]) for k in range(3)), *((f"r{i}", A[i, j]) for i in range(m))]
        if value
    ]
    ends = [f" RHS f{k} {-float(constants[k])!r}" for k in range(3)] + [
        f" RHS r{i} {float(low[i])!r}" for i in range(m)
    ]
    ranges = [f" RNG r{i} {float(high[i] - low[i])!r}" for i in range(m) if np.isfinite(high[i])]
    bounds = [f" UP B {names[j]} {float(upper[j])!r}" for j in range(n)]
    H = half.T @ half
    squares = [f" {names[i]} {names[j]} {float(H[i, j])!r}" for i in range(n) for j in range(i + 1)]
    parts = ["NAME t", "ROWS", *rows, "COLUMNS", *columns, "RHS", *ends, "RANGES", *ranges, "BOUNDS", *bounds]
    text = "\n".join([*parts, "QUADOBJ", *squares, "ENDATA"])
    problem = read_model_file(written(tmp_path, text)).problem
    first, *others = problem.levels
    assert isinstance(first, tb.Quadratic)
    np.testing.assert_array_equal(sp.csr_array(first.Q).toarray(), np.tril(H) + np.tril(H, -1).T)
    np.testing.assert_array_equal([first.q, *(one.c for one in others)], costs)
    np.testing.assert_array_equal([first.c, *(one.constant for one in others)], constants)
    given = problem.domain._given
    np.testing.assert_array_equal(given.upper, upper)
    both = np.isfinite(high)
    np.testing.assert_array_equal(given.A.toarray(), np.vstack([A[both], -A]))
    np.testing.assert_array_equal(given.high, np.concatenate([low[both] + (high - low)[both], -low]))


def test_lp_file_maximises(tmp_path: Path) -> None:
    task = read_model_file(written(tmp_path, LP, ".lp"), ["max weight", "min x3 + [x2^2]/2"])
    assert [one.name for one in task.objectives] == ["profit", "weight", "x3 + [x2^2]/2"]
    result = task.run()
    assert isinstance(result, tb.Result) and result.success
    profit, x1, x2, x3 = -result.levels[0].value, *result.x
    assert profit == pytest.approx(3 * x1 + 2 * x2 - x3 + (-(x1**2) + 2 * x1 * x2 - 4 * x2**2) / 2 + 5)
    np.testing.assert_allclose([x1, x2, x3], [4, 1.5, 0], atol=1e-8)  # the gradient along x1 is 3 - 4 + 1.5 > 0
    assert result.named is not None and list(result.named) == ["x1", "x2", "x3"]
    assert "x1 = 4, x2 = 1.5" in repr(result)


PASSED_OVER = {  # what HiGHS reads as something else, without a word or with one in its log
    "comma": ("y  both  -1 ", "y  both  -1,5 ", (14, "-1,5 is no number")),
    "fortran": ("x[1]  cost  1.5", "x[1]  cost  1D3", (11, "1D3 is no number")),
    "hexadecimal": ("x[1]  cost  1.5", "x[1]  cost  0x10", (11, "0x10 is no number")),
    "nan": ("x[1]  cost  1.5", "x[1]  cost  nan", (11, "nan is no number")),
    "infinite": ("x[1]  cost  1.5", "x[1]  cost  1e999", (11, "1e999 is not finite")),
    "misspelt column": ("UP BND  x[1]", "UP BND  x[2]", (22, "there is no column x[2]; did you mean 'x[1]'?")),
    "misspelt row": ("RHS  most  9", "RHS  mots  9", (17, "there is no row mots; did you mean 'most'?")),
    "unknown section": ("OBJSENSE\n    MIN", "OBJNAME\n    co2", (2, "the section OBJNAME is not taken")),
    "sense": ("    MIN", "    MAXIMAL", (3, "OBJSENSE must be MAX or MIN")),
    "two bounds vectors": (" UP BND  y", " UP BND2  y", (24, "BOUNDS has the vectors BND and BND2")),
    "range of an objective": ("RNG  most", "RNG  cost", (20, "cost is an objective and has no range")),
    "squares": ("QUADOBJ", "QUADOBJ\n y  x[1]  0.5", (28, "QUADOBJ names each pair once")),
    "two rows of a name": (" E  both", " E  both\n L  most", (10, "there are two rows most")),
    "split column": (" z  cost", " x[1]  both  1\n z  cost", (15, "the column x[1] has begun on line 11")),
    "spaces": (" y  cost  2  most  1", " y z  cost  2  most  1", (13, "names without spaces")),
    "cut off": ("ENDATA", "", (30, "without ENDATA")),
    "twice": (" x[1]  least  1", " x[1]  cost  1", (0, 'duplicate nonzero 1 in objective row "COST"')),
    "tiny": ("x[1]  cost  1.5  most  1", "x[1]  cost  1.5  most  1e-13", (0, "less than or equal to 1e-12")),
    "huge": ("x[1]  cost  1.5  most  1", "x[1]  cost  1.5  most  1e19", (0, "greater than 1e+15")),
    "crossed": (" LO BND  y  -1", " LO BND  y  2", (0, "bounds contradict each other: y")),
    "not convex": (" y  y  1", " y  y  -1", (0, "cost is minimised and is not convex")),
    "no objective": (" N  cost\n N  co2", " G  cost\n G  co2", (0, "there is no objective")),
    "nothing": (MPS, "", (0, "there is no objective")),
}


@pytest.mark.parametrize("case", PASSED_OVER, ids=str)
def test_mps_mistakes(case: str, tmp_path: Path) -> None:
    old, new, (line, words) = PASSED_OVER[case]
    assert MPS.count(old) == 1
    found = mistakes(tmp_path, MPS.replace(old, new))
    assert any(at == line and words.lower() in text.lower() for at, text in found), found


LP_MISTAKES = {
    "sum lost": ("min x + y + x\nst\n c: x >= 1\nend", (1, "x is in the objective twice")),
    "no sign": ("min\n x y\nst\n c: x >= 1\nend", (2, "y follows x without a sign")),
    "no sign in a row": ("min\n x\nst\n c: 2 x y >= 1\nend", (4, "y follows x without a sign")),
    "sign alone": ("min\n x +\nst\n c: x - >= 1\nend", (2, "nothing follows the sign +")),
    "two factors": ("min\n 2 3 x\nst\n c: x >= 1\nend", (2, "3 follows 2 without a sign")),
    "comma": ("min\n 1,5 x\nst\n c: x >= 1\nend", (2, "x follows ,5 without a sign")),
    "constant in a row": ("min\n x\nst\n c: x + 3 >= 5\nend", (4, "3: a row has all its variables on the left")),
    "range": ("min\n x\nst\n c: 1 <= x + y <= 2\nend", (4, "1: a row has all its variables on the left")),
    "parentheses": ("min\n 3 (x + y)\nst\n c: x >= 1\nend", (2, "parentheses are part of names")),
    "squares": ("min\n [ x^2 3 y^2 ] / 2\nst\n c: x >= 1\nend", (2, "3 follows ^ without a sign")),
    "british": ("minimise\n x\nst\n c: x >= 1\nend", (1, "there is no objective")),
    "above": ("x\nmin y\nst\n c: y >= 1\nend", (1, "x stands above the word min")),
    "bounds": ("min\n x\nst\n c: x >= 1\nbounds\n x y free\nend", (6, "HiGHS's reader does not take this line")),
    "not finite": ("min\n 1e999 x\nst\n c: x >= 1\nend", (0, "not finite")),
    "twice in a row": ("min\n x\nst\n c: x + y + x >= 1\nend", (0, "occurs 2 times in row 0")),
    "nothing": ("", (1, "there is no objective")),
    "no variables": ("min\n 3\nend", (0, "there are no variables")),
    "infeasible": ("min\n x\nst\n c: 0 x >= 1\nend", (0, "the model is infeasible")),
    "contradiction": ("min\n x\nst\n c: x + y >= 3\nbounds\n x <= 1\n y <= 1\nend", (0, "the model is infeasible")),
}


@pytest.mark.parametrize("case", LP_MISTAKES, ids=str)
def test_lp_mistakes(case: str, tmp_path: Path) -> None:
    text, (line, words) = LP_MISTAKES[case]
    found = mistakes(tmp_path, text, ".lp")
    assert any(at == line and words in one for at, one in found), found


def test_all_mistakes_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MPS.replace("1.5", "1,5").replace("RHS  most", "RHS  mots").replace("UP BND  y", "UP BND  yy")
    assert main(["solve", str(written(tmp_path, text)), "--then", "max q + x[1]"]) == 2
    err = capsys.readouterr().err
    for words in ("4 mistakes", "line 11: 1,5 is", "line 17: there is no row mots", "line 24: there", "variable q"):
        assert words in err, words


def test_variables_that_are_not_continuous(tmp_path: Path) -> None:
    text = "min\n x + a\nst\n c: x + y + a >= 1.5\ngeneral\n x\nbinary\n a\nend"
    (_, said), (_, other) = mistakes(tmp_path, text, ".lp", ["qq"])
    assert said.startswith("variables that are not continuous: x, a; tiebreak proves") and "variable qq" in other
    marked = MPS.replace(" z  cost", " M  'MARKER'  'INTORG'\n z  cost").replace(
        "RHS\n", " M  'MARKER'  'INTEND'\nRHS\n", 1
    )
    assert "not continuous: z;" in mistakes(tmp_path, marked)[0][1]


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ("x1 + nonsense", "there is no variable nonsense; There is x1, x2, x3"),
        ("2 x1 3 x2", "3 follows x1 without a sign between"),
        ("x1 + x1", "x1 is in the objective twice"),
        ("min x1 +", "nothing follows the sign +"),
        ("max most", "there is no variable most"),
        ("x1 >= 2", "there is no variable >="),
        ("min 3", "names no variable"),
        ("min", "there is no variable min"),
        ("", "names no variable"),
        ("min 1e999 x1", "a number that is not finite"),
        ("min x1^2", "is not an expression such as"),
        ("min - [x1^2]/2", "is not an expression such as"),
        ("min [- x1^2]/2", "is minimised and is not convex"),
        ("max [ x1^2]/2", "is maximised and is not concave"),
        ("x1", "the file maximises; say which way"),
    ],
)
def test_then_mistakes(then: str, words: str, tmp_path: Path) -> None:
    found = mistakes(tmp_path, LP, ".lp", [then])
    assert len(found) == 1 and words.replace(" ", "") in found[0][1].replace(" ", ""), found


def test_a_name_of_two_things_is_asked_about(tmp_path: Path) -> None:
    text = LP.replace("weight", "x1")
    assert "is an objective and a variable" in mistakes(tmp_path, text, ".lp", ["max x1"])[0][1]
    assert read_model_file(written(tmp_path, text, ".lp"), ["max 1 x1"]).problem.levels[1].c.tolist() == [-1, 0, 0]


def test_sizes_and_bytes_are_looked_at_first(tmp_path: Path) -> None:
    large = tmp_path / "large.mps"
    with open(large, "wb") as file:
        file.truncate(2**31)
    with pytest.raises(FileProblem, match="has 2147483648 bytes; with the memory that is there"):
        read_model_file(large)
    for content, words in (
        (b"\x1f\x8b\x08\x00", "compressed; unpack it first"),
        (b"NAME \xff", "line 1: is not UTF-8"),
        (b"NAME\n\x00", "line 2: holds the control character '\\\\x00'"),
    ):
        (tmp_path / "odd.mps").write_bytes(content)
        with pytest.raises(FileProblem, match=words):
            read_model_file(tmp_path / "odd.mps")
    with pytest.raises(FileProblem, match="there is no such file"):
        read_model_file(tmp_path / "none.mps")
    with pytest.raises(FileProblem, match="must end in"):
        read_model_file(tmp_path / "model.gz")


def test_an_unbounded_model_says_so(tmp_path: Path) -> None:
    result = read_model_file(written(tmp_path, "max\n x + y\nst\n c: x - y >= 1\nend", ".lp")).run()
    assert isinstance(result, tb.Result) and result.status == tb.Status.UNBOUNDED and not result.success


def test_spoilt_models_are_used_or_refused(tmp_path: Path) -> None:
    used = []
    for number in range(60):
        rng = np.random.default_rng([7, number])
        name = list(MODELS)[number % 2]
        (tmp_path / name).write_bytes(spoilt_text(MODELS[name].encode(), rng))
        used.append(use_problem(tmp_path, name))
    assert used.count("refused") > 30 and used.count("used") > 2
