"""Online policies, and how one is run by name."""
