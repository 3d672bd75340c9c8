"""Figures of a study: box plots, convergence, performance profiles, critical differences, stability."""
