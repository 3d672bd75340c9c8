"""The jobs problem as mixed-integer programs in Pyomo."""
