"""Multi-agent policy with graph networks: partitions of the servers, rounds of decisions, observations, networks."""
