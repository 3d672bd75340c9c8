"""Exact and improving methods, one file per solver or search; reached by their names in the registry."""
