"""Methods without a proof of quality; the modules directly in this package serve both problems."""
