"""The reference library: stored instances, and the best bound and schedule known for each."""
