"""Readers of public formats, one file per format; what both problems share stands directly in here."""
