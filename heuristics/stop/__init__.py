"""When a search stops: small callables, combined by a list."""

from heuristics.stop.any_of import AnyOf as AnyOf
from heuristics.stop.max_evaluations import MaxEvaluations as MaxEvaluations
from heuristics.stop.max_seconds import MaxSeconds as MaxSeconds
from heuristics.stop.max_stagnation import MaxStagnation as MaxStagnation
from heuristics.stop.stop_criterion import StopCriterion as StopCriterion
from heuristics.stop.target_objective import TargetObjective as TargetObjective
