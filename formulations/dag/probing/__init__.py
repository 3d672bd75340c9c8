"""Refuting makespans without a solver: windows of time, loads inside them, and what follows from one assumption."""
