"""A decentralised actor-critic in which agents average what they learn with their neighbours."""
