"""Studies from a specification to a store: instances, plan, runs, and the frame that analyses read."""
