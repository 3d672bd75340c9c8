"""Many instances and many methods: gap tables, plots, reports and the command line."""
