"""The multi-agent policy: agents that own servers, what they observe, and their networks."""
