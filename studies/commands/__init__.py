"""The commands of `optgap`, one per file; heavy imports stand inside the functions, so that help answers at once."""
