"""Named families of task graphs, and DAG instances whose optimal makespan is known because it was planted."""
