"""Command `library list`: what is in the reference library and how well it is solved."""

from studies.command_line.output import print_json, print_text
from studies.commands import library_options as own
from studies.commands import options as opt


def library_list(
    names: own.NAMES = None,
    family: own.FAMILY = None,
    problem: own.PROBLEM = None,
    min_tasks: own.MIN_SIZE = None,
    max_tasks: own.MAX_SIZE = None,
    is_open: own.OPEN = False,
    library: own.LIBRARY = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """List instances with their best bounds and schedules."""
    from instances.library.library import read_library
    from studies.library.library_texts import entry_dict, list_text

    with own.library_files():
        known = read_library(library)
    chosen = own.chosen_entries(
        known, names, family=family, problem=problem, min_size=min_tasks, max_size=max_tasks, is_open=is_open
    )
    if as_json:
        print_json(
            {
                "identifier": known.identifier,
                "ledger_revision": known.revision,
                "entries": [entry_dict(known, entry) for entry in chosen],
            }
        )
    else:
        print_text(list_text(known, chosen))
