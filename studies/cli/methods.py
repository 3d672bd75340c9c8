"""Commands `methods` and `show-versions`: what can solve and what can bound, and what results are made with."""

from solvers.table import Table
from studies.cli import options as opt
from studies.cli.output import print_json, print_text
from studies.text import aligned


def methods_command(as_json: opt.AS_JSON = False) -> None:
    """List all methods and bounds."""
    from solvers.bound_methods import BOUND_METHODS, JOBS_BOUND_METHODS
    from solvers.methods import JOBS_METHODS, METHODS

    if as_json:
        print_json(
            {
                "methods": [
                    {"name": name, "kind": method.kind, "summary": method.summary, "source": method.source}
                    for name, method in METHODS.items()
                ],
                "bounds": [{"name": name, "proof": bound.proof} for name, bound in BOUND_METHODS.items()],
                "jobs_methods": [
                    {"name": name, "kind": method.kind, "summary": method.summary, "source": method.source}
                    for name, method in JOBS_METHODS.items()
                ],
                "jobs_bounds": [{"name": name, "proof": bound.proof} for name, bound in JOBS_BOUND_METHODS.items()],
            }
        )
        return
    print_text(
        Table(
            headings=["method", "kind", "what it does", "source"],
            rows=[[name, method.kind, method.summary, method.source] for name, method in METHODS.items()],
            numbers=(),
            title="Methods for `optgap solve`",
            notes=[
                "exact: proves a bound; improvement: makes a schedule better; "
                "construction: builds one schedule; search: builds many"
            ],
        ).to_text()
    )
    print_text("")
    print_text(
        Table(
            headings=["bound", "proved by"],
            rows=[[name, bound.proof] for name, bound in BOUND_METHODS.items()],
            numbers=(),
            title="Bounds for `optgap bound`, beside the exact methods",
        ).to_text()
    )
    print_text("")
    print_text(
        Table(
            headings=["method", "kind", "what it does", "source"],
            rows=[[name, method.kind, method.summary, method.source] for name, method in JOBS_METHODS.items()],
            numbers=(),
            title="Methods for `optgap solve` on jobs",
            notes=["exact: proves a bound; policy: decides online, as jobs arrive"],
        ).to_text()
    )
    print_text("")
    print_text(
        Table(
            headings=["bound", "proved by"],
            rows=[[name, bound.proof] for name, bound in JOBS_BOUND_METHODS.items()],
            numbers=(),
            title="Bounds for `optgap bound` on jobs, beside the exact methods",
        ).to_text()
    )


def show_versions_command(as_json: opt.AS_JSON = False) -> None:
    """Print versions and hardware, for bug reports and papers."""
    from solvers.run.versions import hardware, versions

    if as_json:
        print_json({"versions": versions(), "hardware": hardware()})
        return
    found = {name: version or "not installed" for name, version in versions().items()}
    print_text(aligned({**found, "hardware": hardware()}))
