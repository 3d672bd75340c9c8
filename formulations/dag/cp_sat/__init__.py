"""The DAG problem in CP-SAT."""
