"""``python -m tiebreak`` is ``tiebreak``."""

import sys

from .cli import main

sys.exit(main())
