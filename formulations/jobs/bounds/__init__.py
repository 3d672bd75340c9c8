"""Proven lower bounds for the jobs problem, one family per file."""
