"""WORL-RTGS: a trained network that places tasks, the searches that use it, and its training."""
