"""The public names of the toolkit in one place."""
