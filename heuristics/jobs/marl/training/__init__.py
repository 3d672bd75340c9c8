"""Central training of the multi-agent policy: imitation, then a policy gradient with a critic; needs JAX and Optax."""
