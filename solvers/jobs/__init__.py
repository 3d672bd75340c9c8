"""The front door for the jobs problem: solve, bound, results, the conformance kit for policies."""
