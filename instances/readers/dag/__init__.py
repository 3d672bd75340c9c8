"""Readers of public formats of task graphs, each of which returns a DAG instance."""
