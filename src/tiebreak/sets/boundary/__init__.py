"""Sets near one of their points: constraints that may hold there, with their curvature, for derivatives of answers."""
