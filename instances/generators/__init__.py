"""Generators of instances, one file per kind of workload; what both problems share stands directly in here."""
