"""Central training of the multi-agent policy."""
