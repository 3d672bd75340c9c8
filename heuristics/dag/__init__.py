"""Heuristics for the DAG problem."""
