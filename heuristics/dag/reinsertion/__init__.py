"""Local search that removes tasks from a schedule and reinserts each where the longest path through it is shortest."""
