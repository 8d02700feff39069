"""Problem files whose data cannot be used; written as those of ``bad_problems``, with A and b from files."""

from __future__ import annotations

from bad_problems import A

CASES = {
    "file": (A, 'A = { file = "none.csv" } # here', "lower.A.file", ["no file 'none.csv'"]),
    "file no text": (A, "A = { file = 3 } # here", "lower.A.file", ["name of a file"]),
    "ending": (A, 'A = { file = "data.txt" } # here', "lower.A.file", [".csv, .parquet or .npz"]),
    "data key": (A, 'A = { file = "data.csv", colums = ["x"] } # here', "lower.A.colums", ["did you mean 'columns'?"]),
    "column": (
        A,
        'A = { file = "data.csv", columns = ["x", "ys"] } # here',
        "lower.A.columns[1]",
        ["no column 'ys'", "'y'"],
    ),
    "position": (A, 'A = { file = "data.csv", columns = [5] } # here', "lower.A.columns[0]", ["0 to 3"]),
    "column type": (
        A,
        'A = { file = "data.csv", columns = [true] } # here',
        "lower.A.columns[0]",
        ["its name or its position"],
    ),
    "columns no list": (A, 'A = { file = "data.csv", columns = "x" } # here', "lower.A.columns", ["list of columns"]),
    "two columns": (A, 'A = { file = "data.csv", columns = ["x", "x"] } # here', "lower.A.columns", ["twice"]),
    "both": (A, 'A = { file = "data.csv", column = "x", columns = ["x"] } # here', "lower.A.columns", ["not both"]),
    "nothing left": (
        A,
        'A = { file = "data.csv", without = ["name", "x", "y", "z"] } # here',
        "lower.A.without",
        ["no column is left"],
    ),
    "cell": (
        A,
        'A = { file = "data.csv", columns = ["x", "z"] } # here',
        "lower.A.columns",
        ["line 3", "'n/a'", "'z'"],
    ),
    "text column": (A, 'A = { file = "data.csv" } # here', "lower.A.file", ["'name'", "no number"]),
    "missing cell": (A, 'A = { file = "gap.csv" } # here', "lower.A.file", ["line 2", "''", "'x'"]),
    "nan cell": (A, 'A = { file = "nan.csv", column = "x" } # here', "lower.A.column", ["line 2", "'NaN'"]),
    "short row": (A, 'A = { file = "short.csv" } # here', "lower.A.file", ["line 3 of short.csv has 1 cells"]),
    "header": (A, 'A = { file = "plain.csv" } # here', "lower.A.file", ["header = true", "header = false"]),
    "header no flag": (A, 'A = { file = "plain.csv", header = 1 } # here', "lower.A.header", ["true or false"]),
    "no rows": (A, 'A = { file = "plain.csv", header = true } # here', "lower.A.file", ["no data"]),
    "semicolons": (A, 'A = { file = "semicolons.csv" } # here', "lower.A.file", ["not separated by commas"]),
    "empty csv": (A, 'A = { file = "empty.csv" } # here', "lower.A.file", ["is empty"]),
    "double": (A, 'A = { file = "double.csv" } # here', "lower.A.file", ["the column 'x' twice"]),
    "array of csv": (A, 'A = { file = "data.csv", array = "x" } # here', "lower.A.array", ["for NPZ files"]),
    "array": (
        A,
        'A = { file = "data.npz", array = "AA" } # here',
        "lower.A.array",
        ["no array 'AA'; did you mean 'A'?"],
    ),
    "which array": (A, 'A = { file = "data.npz" } # here', "lower.A.file", ["which array?", "A, b"]),
    "columns of npz": (A, 'A = { file = "data.npz", columns = ["A"] } # here', "lower.A.columns", ["with array"]),
    "no npz": (A, 'A = { file = "fake.npz" } # here', "lower.A.file", ["fake.npz is not an NPZ file of numbers"]),
    "nan in npz": (A, 'A = { file = "data.npz", array = "bad" } # here', "lower.A", ["NaN at [0, 1]"]),
    "array of sparse": (A, 'A = { file = "sparse.npz", array = "A" } # here', "lower.A.array", ["leave array out"]),
    "flat sparse": (
        A,
        'A = { file = "sparse.npz", flatten = true } # here',
        "lower.A.flatten",
        ["cannot be flattened"],
    ),
    "table for number": (
        "radius = 2.0",
        'radius = { file = "data.csv" } # here',
        "domain.radius",
        ["must be a number"],
    ),
    "shape of data": ("b = [1.0]", 'b = { file = "b.csv" } # here', "lower.b", ["1-D", "choose one column"]),
}
