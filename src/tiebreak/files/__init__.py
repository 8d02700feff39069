"""Problem files: a problem in TOML, its data in CSV, Parquet or NPZ, its answer in JSON and NPZ.

``read_task("problem.toml").run()`` is what ``tiebreak solve problem.toml`` does, and
``read_model_file("model.mps").run()`` what ``tiebreak solve model.mps`` does.
"""

from .errors import FileProblem, ModelProblem
from .model import read_model_file
from .task import Task, read_task

__all__ = ["FileProblem", "ModelProblem", "Task", "read_model_file", "read_task"]
