"""Methods for the jobs problem: the simulator and the form of every policy; all else is in the folders below."""
