"""Decentralised deep actor-critic with gossip, as printed and as repaired, and the grid world it is tried on."""
