"""The command `optgap`, and what its exit status means."""

from __future__ import annotations

import sys
import traceback
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from studies.cli.bound import bound_command
from studies.cli.convert import convert_command
from studies.cli.demo import demo_command
from studies.cli.generate import generate_command
from studies.cli.input import BadInputError, usage_line
from studies.cli.library import library
from studies.cli.methods import methods_command, show_versions_command
from studies.cli.output import note, print_text
from studies.cli.solve import solve_command
from studies.cli.study import study
from studies.cli.train import train_command
from studies.cli.verify import verify_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


DONE, BAD_INPUT, SOFTWARE_ERROR, INTERRUPTED = 0, 2, 3, 130
"""Exit status beside 1, the answer "no", which commands return themselves."""

# Plain help and no completion scripts: Rich would be imported for them, and start-up is part of the contract.
app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
for _command in (
    demo_command,
    generate_command,
    convert_command,
    solve_command,
    bound_command,
    verify_command,
    train_command,
    methods_command,
    show_versions_command,
):
    app.command(_command.__name__.removesuffix("_command").replace("_", "-"))(_command)
app.add_typer(study, name="study")
app.add_typer(library, name="library")


def _print_version(is_asked: bool) -> None:
    """Print the version and end."""
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print_text(f"optgap {version('optgap')}")
        except PackageNotFoundError:
            print_text("optgap (not installed)")
        raise typer.Exit


@app.callback(epilog='Exit status: 0 done, 1 the answer is "no", 2 misuse or bad input, 3 an error in this software.')
def _optgap(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """How far schedulers of machine-learning work on heterogeneous GPUs are from optimal, with proofs."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status.

    Parameters
    ----------
    arguments
        Without the name of the program; default those of the process.
    """
    sys.exit(_status(sys.argv[1:] if arguments is None else list(arguments)))


def _status(arguments: list[str]) -> int:
    """Run a command and return the exit status; whatever goes wrong becomes one line on stderr."""
    try:
        with _one_line_warnings():
            status: int | None = app(args=arguments, prog_name="optgap", standalone_mode=False)
        return DONE if status is None else status
    except BadInputError as error:
        note(str(error))
        return BAD_INPUT
    except MemoryError:
        note("optgap: expected something that fits into memory.")
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if hasattr(error, "format_message"):
            note(usage_line(error))
            return BAD_INPUT
        if type(error).__name__ == "ContradictionError":  # its class would import NumPy here
            note(f"optgap: {error}")
        else:
            traceback.print_exc()
        return SOFTWARE_ERROR


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show warnings as one line without the source of the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
        yield


if __name__ == "__main__":
    main()
