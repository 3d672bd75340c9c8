"""A DAG of tasks on heterogeneous GPUs: the instance, its schedules, objectives, verifier, files and charts."""
