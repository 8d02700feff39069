"""References for the tests: known answers and the naive formulas behind them."""
