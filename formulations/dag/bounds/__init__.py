"""Proven lower bounds for the DAG problem, one file each."""
