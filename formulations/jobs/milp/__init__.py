"""The jobs problem as MILPs in Pyomo."""
