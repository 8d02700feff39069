"""Planted problems with exact rational answers, the checks on what the library claims about them, and their scripts."""
