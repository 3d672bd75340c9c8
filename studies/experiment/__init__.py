"""Studies from a specification to a store: instances, plan, runs in worker processes or on a cluster."""
