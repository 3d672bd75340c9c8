"""RTGS: whales whose positions are loads of GPUs, and a generator that makes placements from wished loads."""
