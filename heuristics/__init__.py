"""Methods without a proof; modules directly in here serve both problems."""
