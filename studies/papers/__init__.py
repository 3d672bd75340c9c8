"""Experiments of single papers, one file each: what is run, its table and its figure."""
