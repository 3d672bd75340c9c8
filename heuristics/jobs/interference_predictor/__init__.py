"""Interference predictor: how much slower a job runs beside others, learned from co-locations."""
