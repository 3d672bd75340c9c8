"""Everything that the record takes from the product, in one place: the only file that a move of modules touches."""

from __future__ import annotations as annotations

from heuristics.search.progress import Callback as Callback
from heuristics.search.progress import Progress as Progress
from heuristics.search.stop_criteria import MaxEvaluations as MaxEvaluations
from instances.clusters.cluster import CLUSTER_PRESETS as CLUSTER_PRESETS
from instances.clusters.cluster import parse_cluster as parse_cluster
from instances.clusters.cost_model import CostModel as CostModel
from instances.clusters.gpu_kinds import GPU_KINDS as GPU_KINDS
from instances.dag.instance import DagInstance as DagInstance
from instances.dag.json import dag_instance_from_json as dag_instance_from_json
from instances.dag.json import dag_instance_to_json as dag_instance_to_json
from instances.dag.json import dag_schedule_to_json as dag_schedule_to_json
from instances.dag.schedule import DagSchedule as DagSchedule
from instances.dag.verify import verify_dag_schedule as verify_dag_schedule
from instances.generators.dag.generate import FAMILIES as FAMILIES
from instances.generators.dag.generate import generate as generate
from instances.generators.dag.planted import planted_optimum as planted_optimum
from instances.generators.jobs.generate import ALL_JOBS_FAMILIES as ALL_JOBS_FAMILIES
from instances.generators.jobs.generate import generate_jobs as generate_jobs
from instances.generators.jobs.planted import planted_jobs as planted_jobs
from instances.jobs.instance import Job as Job
from instances.jobs.instance import JobsInstance as JobsInstance
from instances.jobs.instance import Stage as Stage
from instances.jobs.json import jobs_instance_from_json as jobs_instance_from_json
from instances.jobs.json import jobs_instance_to_json as jobs_instance_to_json
from instances.jobs.json import jobs_schedule_to_json as jobs_schedule_to_json
from instances.jobs.objective import job_completion_times as job_completion_times
from instances.jobs.schedule import JobsSchedule as JobsSchedule
from instances.jobs.servers import JobsServer as JobsServer
from instances.jobs.verify import verify_jobs_schedule as verify_jobs_schedule
from instances.library.library import read_library as read_library
from instances.readers.dag.bundled import BUNDLED as BUNDLED
from instances.readers.dag.bundled import bundled_instance as bundled_instance
from solvers.bound_methods import BOUND_METHODS as BOUND_METHODS
from solvers.bound_methods import JOBS_BOUND_METHODS as JOBS_BOUND_METHODS
from solvers.lower_bound import lower_bound as lower_bound
from solvers.methods import JOBS_METHODS as JOBS_METHODS
from solvers.methods import METHODS as METHODS
from solvers.solve import solve as solve
from studies.cli.main import main as main

lower_bound_jobs = lower_bound
