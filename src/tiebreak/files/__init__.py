"""Problem files: a problem in TOML, its data in CSV, Parquet or NPZ, its answer in JSON and NPZ.

``read_task("problem.toml").run()`` is what ``tiebreak solve problem.toml`` does.
"""

from .errors import FileProblem
from .task import Task, read_task

__all__ = ["FileProblem", "Task", "read_task"]
