"""Training jobs that arrive at a cluster: the instance, its schedules, objectives, verifier, files and charts."""
