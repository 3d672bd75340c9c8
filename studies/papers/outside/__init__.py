"""Comparisons with code of others, in an environment of their own; nothing here is imported by the rest."""
