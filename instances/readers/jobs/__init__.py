"""Readers of public traces of GPU clusters, each of which returns a jobs instance, a cluster or a table of speeds."""
