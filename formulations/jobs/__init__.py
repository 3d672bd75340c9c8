"""The jobs problem as mathematics: what its models and bounds share; most of these are in the folders below."""
