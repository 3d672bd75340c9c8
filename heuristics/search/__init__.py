"""Foundations of every search: stop criteria, callbacks, settings, the clock, and random numbers for kernels."""
