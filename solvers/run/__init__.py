"""What a run is: its limits, stop signal, trace, outcome and bounds; imports nothing else of solvers."""
