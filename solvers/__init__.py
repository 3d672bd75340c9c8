"""The front door: solve an instance, bound it from below, look methods and bounds up by name."""
