"""GPU kinds, servers, links between GPUs, named clusters, and what a workload costs on them."""
