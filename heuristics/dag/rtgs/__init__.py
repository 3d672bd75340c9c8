"""RTGS: a population search over desired GPU loads, and the greedy generator's published form."""
