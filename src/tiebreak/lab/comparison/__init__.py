"""The comparison of all methods on problems whose answers are known: ``tiebreak bench methods``."""
