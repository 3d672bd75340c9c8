"""The front door: solve an instance, or bound it from below."""

from instances.objective import Objective as Objective
from solvers.bound import Bound as Bound
from solvers.bound_table import BoundTable as BoundTable
from solvers.jobs.jobs_methods import JOBS_METHODS as JOBS_METHODS
from solvers.jobs.jobs_result import JobsResult as JobsResult
from solvers.jobs.lower_bound_jobs import lower_bound_jobs as lower_bound_jobs
from solvers.jobs.solve_jobs import solve_jobs as solve_jobs
from solvers.lower_bound import lower_bound as lower_bound
from solvers.methods import METHODS as METHODS
from solvers.result import Result as Result
from solvers.solve import solve as solve
from solvers.status import Status as Status
from solvers.status import Termination as Termination
