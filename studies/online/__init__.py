"""Online policies held against the offline optimum: what runs, what is measured, how it is told."""
