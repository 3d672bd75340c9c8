"""Placements: which servers hold the replicas of a job."""
