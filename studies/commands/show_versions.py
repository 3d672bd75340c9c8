"""Command `show-versions`: what results are made with."""

from studies.command_line.aligned import aligned
from studies.command_line.output import print_json, print_text
from studies.commands import options as opt


def show_versions(as_json: opt.AS_JSON = False) -> None:
    """Print versions and hardware, for bug reports and papers."""
    from solvers.versions import hardware, versions

    if as_json:
        print_json({"versions": versions(), "hardware": hardware()})
        return
    found = {name: version or "not installed" for name, version in versions().items()}
    print_text(aligned({**found, "hardware": hardware()}))
