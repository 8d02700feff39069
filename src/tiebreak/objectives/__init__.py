"""Objectives: smooth functions with their facts and structure."""
