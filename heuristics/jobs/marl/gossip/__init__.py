"""Training of the multi-agent policy without a centre: an actor and a critic per agent that gossip; needs JAX."""
