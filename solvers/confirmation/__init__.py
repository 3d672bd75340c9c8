"""Claims put to a second model, and what a contradiction left behind."""
