"""What is to be scheduled, what a schedule is, and whether it is right."""

from instances.adjacency import Adjacency as Adjacency
from instances.contention import Contention as Contention
from instances.dag_instance import NO_LIMIT as NO_LIMIT
from instances.dag_instance import NOT_ALLOWED as NOT_ALLOWED
from instances.dag_instance import DagInstance as DagInstance
from instances.dag_json import dag_instance_from_json as dag_instance_from_json
from instances.dag_json import dag_instance_to_json as dag_instance_to_json
from instances.dag_json import dag_schedule_from_json as dag_schedule_from_json
from instances.dag_json import dag_schedule_to_json as dag_schedule_to_json
from instances.dag_json import read_dag_instance as read_dag_instance
from instances.dag_json import read_dag_schedule as read_dag_schedule
from instances.dag_json import write_dag_instance as write_dag_instance
from instances.dag_json import write_dag_schedule as write_dag_schedule
from instances.dag_schedule import DagSchedule as DagSchedule
from instances.objective import Objective as Objective
from instances.objective import objective_value as objective_value
from instances.verify_dag_schedule import verify_dag_schedule as verify_dag_schedule
