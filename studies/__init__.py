"""Many instances x many methods: experiments, their analysis and reports, and the command line."""
