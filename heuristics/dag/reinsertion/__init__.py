"""Local search that takes tasks out of a schedule and puts each back where the longest path through it is shortest."""
