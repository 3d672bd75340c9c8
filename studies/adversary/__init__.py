"""Searching small instances on which a heuristic does worst, against proven optima."""
