"""The CP-SAT model of the DAG problem."""
