"""How long agents with graph networks take for a decision, by servers and agents."""
