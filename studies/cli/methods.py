"""Commands `methods` and `show-versions`: what can solve and what can bound, and what results are made with."""

from typing import TYPE_CHECKING

from solvers.table import Table, wide_tables
from studies.cli import options as opt
from studies.cli.output import print_json, print_text
from studies.text import aligned

if TYPE_CHECKING:
    from solvers.problem import Problem

KINDS = {
    "dag": "exact: proves a bound; improvement: makes a schedule better; "
    "construction: builds one schedule; search: builds many",
    "jobs": "exact: proves a bound; policy: decides online, as jobs arrive",
}
"""What the kinds of methods mean, by problem."""


def methods_command(is_wide: opt.WIDE = False, as_json: opt.AS_JSON = False) -> None:
    """List all methods and bounds."""
    from solvers.problem import PROBLEMS

    if as_json:
        document: dict[str, object] = {}
        for problem in PROBLEMS.values():
            prefix = "" if problem.name == "dag" else f"{problem.name}_"
            document[f"{prefix}methods"] = [
                {"name": name, "kind": method.kind, "summary": method.summary, "source": method.source}
                for name, method in problem.methods.items()
            ]
            document[f"{prefix}bounds"] = [
                {"name": name, "proof": bound.proof} for name, bound in problem.bounds.items()
            ]
        print_json(document)
        return
    with wide_tables(is_wide):
        print_text("\n\n".join(table.to_text() for problem in PROBLEMS.values() for table in _tables(problem)))


def _tables(problem: "Problem") -> list[Table]:
    """Return the methods and the bounds of a problem."""
    of_problem = "" if problem.name == "dag" else f" on {problem.noun}"
    return [
        Table(
            headings=["method", "kind", "what it does", "source"],
            rows=[[name, method.kind, method.summary, method.source] for name, method in problem.methods.items()],
            numbers=(),
            title=f"Methods for `optgap solve`{of_problem}",
            notes=[KINDS[problem.name]],
        ),
        Table(
            headings=["bound", "proved by"],
            rows=[[name, bound.proof] for name, bound in problem.bounds.items()],
            numbers=(),
            title=f"Bounds for `optgap bound`{of_problem}, beside the exact methods",
        ),
    ]


def show_versions_command(as_json: opt.AS_JSON = False) -> None:
    """Print versions and hardware, for bug reports and papers."""
    from solvers.run.versions import hardware, versions

    if as_json:
        print_json({"versions": versions(), "hardware": hardware()})
        return
    found = {name: version or "not installed" for name, version in versions().items()}
    print_text(aligned({**found, "hardware": hardware()}))
