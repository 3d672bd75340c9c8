"""The search over down-sets of the DAG: exact, or a beam search where labels are dropped."""
