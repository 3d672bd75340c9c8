"""Ablations of the multi-agent policy: trainings with something changed, on the instances of all and on other ones."""
