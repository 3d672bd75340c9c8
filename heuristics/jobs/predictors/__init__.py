"""Predictors: how many iterations a job will run, told at its arrival."""
