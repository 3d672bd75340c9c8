"""Command `methods`: what can solve and what can bound."""

from studies.command_line.output import print_json, print_text
from studies.command_line.text_table import text_table
from studies.commands import options as opt


def methods(as_json: opt.AS_JSON = False) -> None:
    """List all methods and bounds."""
    from solvers.jobs.jobs_methods import JOBS_METHODS
    from solvers.jobs.lower_bound_jobs import JOBS_BOUND_METHODS
    from solvers.lower_bound import BOUND_METHODS
    from solvers.methods import METHODS

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
        text_table(
            ["method", "kind", "what it does", "source"],
            [[name, method.kind, method.summary, method.source] for name, method in METHODS.items()],
            title="Methods for `optgap solve`",
            caption="exact: proves a bound; improvement: makes a schedule better; "
            "construction: builds one schedule; search: builds many",
        )
    )
    print_text("")
    print_text(
        text_table(
            ["bound", "proved by"],
            [[name, bound.proof] for name, bound in BOUND_METHODS.items()],
            title="Bounds for `optgap bound`, beside the exact methods",
        )
    )
    print_text("")
    print_text(
        text_table(
            ["method", "kind", "what it does", "source"],
            [[name, method.kind, method.summary, method.source] for name, method in JOBS_METHODS.items()],
            title="Methods for `optgap solve` on jobs",
            caption="exact: proves a bound; policy: decides online, as jobs arrive",
        )
    )
    print_text("")
    print_text(
        text_table(
            ["bound", "proved by"],
            [[name, bound.proof] for name, bound in JOBS_BOUND_METHODS.items()],
            title="Bounds for `optgap bound` on jobs, beside the exact methods",
        )
    )
