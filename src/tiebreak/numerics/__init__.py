"""What engines and sets share: extended precision, ranks, foreign solvers, the deadline."""
