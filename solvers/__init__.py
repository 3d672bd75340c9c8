"""The front door: solve an instance, or bound it from below."""

from instances.objective import Objective as Objective
from solvers.bound import Bound as Bound
from solvers.bound_table import BoundTable as BoundTable
from solvers.lower_bound import lower_bound as lower_bound
from solvers.methods import METHODS as METHODS
from solvers.result import Result as Result
from solvers.solve import solve as solve
from solvers.status import Status as Status
from solvers.status import Termination as Termination
