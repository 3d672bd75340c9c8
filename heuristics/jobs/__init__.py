"""Heuristics for the jobs problem."""
