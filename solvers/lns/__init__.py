"""Large neighbourhood search: good starts, annealed reinsertion, and windows that CP-SAT repairs."""
