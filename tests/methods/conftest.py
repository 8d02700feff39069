"""The references of the tests are one folder up."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
