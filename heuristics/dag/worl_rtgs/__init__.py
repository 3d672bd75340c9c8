"""Placements by a Double-DQN, and whales that wish for them; NumPy and Numba only."""
