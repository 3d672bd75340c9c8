"""The reference library: how its instances were chosen, how its ledger grows, and what checks it."""
