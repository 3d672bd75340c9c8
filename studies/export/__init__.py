"""A schedule on its way out: traces, tables, figures, models that prove it, and a page to look at it."""
