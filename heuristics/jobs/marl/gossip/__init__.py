"""Training of the multi-agent policy without a centre, by gossip."""
