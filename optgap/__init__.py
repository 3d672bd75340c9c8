"""How far schedulers of machine-learning work on heterogeneous GPUs are from optimal, with proofs.

Everything here is defined elsewhere and imported when it is first used; ``dir(optgap)`` lists the names.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

_HOME_OF = {
    # instances and schedules
    "DagInstance": "instances.dag.instance:DagInstance",
    "DagSchedule": "instances.dag.schedule:DagSchedule",
    "JobsInstance": "instances.jobs.instance:JobsInstance",
    "JobsSchedule": "instances.jobs.schedule:JobsSchedule",
    "from_lists": "instances.dag.instance:DagInstance.from_lists",
    "from_networkx": "instances.dag.conversion:dag_instance_from_networkx",
    "generate": "solvers.workloads:generate_any",
    "convert": "solvers.workloads:convert",
    "read": "instances.readers.optgap_json:read_instance_file",
    "write": "instances.readers.optgap_json:write_instance_file",
    "read_library": "instances.library.library:read_library",
    "parse_cluster": "instances.clusters.cluster:parse_cluster",
    "CostModel": "instances.clusters.cost_model:CostModel",
    "export": "studies.export.exports:export",
    "view": "studies.export.page:view",
    # runs
    "methods": "solvers.workloads:methods",
    "verify": "solvers.workloads:verify",
    "solve": "solvers.solve:solve",
    "lower_bound": "solvers.lower_bound:lower_bound",
    "Result": "solvers.result:Result",
    "Bound": "solvers.run.bound:Bound",
    "Callback": "heuristics.search.progress:Callback",
    "MaxEvaluations": "heuristics.search.stop_criteria:MaxEvaluations",
    "MaxSeconds": "heuristics.search.stop_criteria:MaxSeconds",
    "check_method": "solvers.conformance.check_method:check_method",
    # studies
    "run_study": "studies.experiment.run_study:run_study",
    "read_study": "studies.experiment.read_specification:read_study_spec",
}
"""Module and object of each public name."""

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOME_OF:
        from instances.spelling import did_you_mean

        hint = did_you_mean(name, _HOME_OF)
        raise AttributeError(f"optgap: expected one of {', '.join(_HOME_OF)}, got {name!r}{hint}.")
    module, _, path = _HOME_OF[name].partition(":")
    return attrgetter(path)(import_module(module))


def __dir__() -> list[str]:
    """List the public names."""
    return __all__


def _refuse_hidden_packages() -> None:
    """Refuse to go on where a folder of the user's hides a package of ours: imports would fail later, less clearly."""
    root = Path(__file__).parents[1]
    for package in ("instances", "formulations", "heuristics", "solvers", "studies"):
        spec = find_spec(package)
        found = [Path(place).resolve() for place in spec.submodule_search_locations or ()] if spec else []
        if found and (root / package).resolve() not in found:
            message = f"optgap: the folder {found[0]} hides optgap's package {package!r}; rename it or start elsewhere."
            if Path(sys.argv[0]).stem in ("optgap", "-m"):  # the command: one line and the status of misuse
                print(message, file=sys.stderr)
                raise SystemExit(2)
            raise ImportError(message)


_refuse_hidden_packages()
