"""Stored runs as data frames, gaps to proven bounds, and the statistics of a comparison."""
