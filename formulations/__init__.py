"""The problems as mathematics: models and proven lower bounds."""
