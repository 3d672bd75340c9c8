"""Lower bounds on the (weighted) total completion time of jobs, each with its proof."""
