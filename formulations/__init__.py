"""The problems as mathematics: models and proven lower bounds; they are built here and solved elsewhere."""
