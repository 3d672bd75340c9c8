"""Mixed-integer linear programs of the DAG problem in Pyomo."""
