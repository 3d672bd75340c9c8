"""Methods for the DAG problem: list scheduling, searches on random keys, and the kernels that they share."""
