"""The jobs problem as mathematics: offline exact models and proven lower bounds."""
