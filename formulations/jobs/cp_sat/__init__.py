"""The jobs problem in CP-SAT."""
