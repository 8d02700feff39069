"""Wrong values for arguments of each kind, as Python."""

NUMBER = ["'1'", "[1.0, 2.0]", "1j", "object()", "nan", "inf", "10**400", "np.array([])", "{}"]
POSITIVE = [*NUMBER, "0", "-1.0", "-inf"]
COUNT = [*POSITIVE, "1.5"]
VECTOR = [
    "'abc'", "[[1.0], [2.0, 3.0]]", "[1.0, nan]", "[1j, 1.0]", "[None, 1.0]", "[]", "3.0", "[[1.0, 2.0]]",
    "[1.0, 10**400]", "np.ma.masked_array([1.0, 2.0], [True, False])", "np.array(['a', 'b'])", "{'a': 1}",
]  # fmt: skip
MATRIX = [
    "'abc'", "None", "[1.0, 2.0]", "[[1.0], [2.0, 3.0]]", "[[nan, 1.0]]", "[[1j, 1.0]]", "[[]]",
    "np.zeros((2, 2, 2))", "np.zeros((0, 2))", "sp.csr_array([[np.nan, 1.0]])", "object()",
    "np.array([['a', 'b']])", "sp.csr_array([[1j, 1.0]])", "np.array([[None, 1.0]])",
]  # fmt: skip
