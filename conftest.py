"""Doors to packages that are not installed are not collected; ``make doors`` has them all."""

from importlib.util import find_spec

collect_ignore = [f"src/tiebreak/{name}.py" for name in ("jax", "torch") if find_spec(name) is None]
if not all(find_spec(name) for name in ("distributed", "zarr", "pyarrow")):  # ``make dask`` has them
    collect_ignore += ["src/tiebreak/dask", "tests/chunks"]
