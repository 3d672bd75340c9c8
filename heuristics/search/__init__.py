"""What every search needs: budgets and stop criteria, callbacks, the clock, and random numbers for kernels."""
