"""What is to be scheduled, what a schedule is, and whether it is right; modules directly in here serve all rooms."""
