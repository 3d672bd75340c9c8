"""Learned models of how much jobs slow each other down on a server."""
