"""Predictors of the number of iterations of a job."""
