"""Placement rules, and the state of jobs and servers that they look at."""
