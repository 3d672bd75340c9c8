"""Specifications that come with the package; `optgap study run NAME` finds them by name."""
