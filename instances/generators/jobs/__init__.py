"""Named families of arriving jobs, and jobs instances whose optimum is known because it was planted."""
