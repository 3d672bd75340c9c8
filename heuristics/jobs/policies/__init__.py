"""Online policies for the jobs problem: in which order jobs start as they arrive."""
