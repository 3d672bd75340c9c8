"""The decentralised actor-critic on its grid world: variants x seeds, beside what others report."""
