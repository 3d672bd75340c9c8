"""Dynamic programming over down-sets: which tasks have started, where, and no label that another one dominates."""
