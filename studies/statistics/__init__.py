"""Statistics of a study: gaps at equal budgets, paired tests, ranks, stability, profiles, and the table of them all."""
