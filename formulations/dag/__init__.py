"""The DAG problem as mathematics: what its models and bounds share; the models and bounds are in the folders below."""
