"""RTGS: a population search over desired GPU loads, and the published form of its greedy generator."""
