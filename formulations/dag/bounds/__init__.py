"""Proven lower bounds for the DAG problem, one family per file."""
