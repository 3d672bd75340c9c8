"""What follows from a deadline: tightened windows, loads that do not fit, refuted makespans."""
