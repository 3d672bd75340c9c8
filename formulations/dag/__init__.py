"""The DAG problem as mathematics."""
