"""The DAG problem as mixed-integer programs in Pyomo."""
