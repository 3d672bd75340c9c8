"""The command `optgap`, and what its exit status means."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from studies.cli.input import usage_line
from studies.cli.options import command_of
from studies.cli.output import note, open_streams, print_text
from studies.input import BadInputError
from studies.options import Names
from studies.papers.study import PAPER_STUDIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType


DONE, BAD_INPUT, SOFTWARE_ERROR, INTERRUPTED, TERMINATED = 0, 2, 3, 130, 143
"""Exit status beside 1, the answer "no", which commands return themselves."""

COMPLETION = "_OPTGAP_COMPLETE"
"""Variable by which a shell asks for completions."""

COMMANDS = {
    "demo": ("studies.cli.demo:demo_command", "Show the gap of every heuristic on small instances."),
    "generate": (
        "studies.cli.generate:generate_command",
        "Make one instance of a named family and write it to a file.",
    ),
    "convert": ("studies.cli.convert:convert_command", "Read a file of a public format and write it as an instance."),
    "solve": ("studies.cli.solve:solve_command", "Run one method on one instance (Ctrl-C: best so far)."),
    "bound": ("studies.cli.bound:bound_command", "List lower bounds of an instance and what proves each."),
    "export": (
        "studies.cli.export:export_command",
        "Write a schedule as a trace, table or figure, or the model that proves it.",
    ),
    "view": ("studies.cli.export:view_command", "Write a page to look at schedules in a browser, without a network."),
    "verify": ("studies.cli.verify:verify_command", "Check a schedule; list every violation (status 1)."),
    "train": (
        "studies.cli.train:train_command",
        "Train a learned method and write its weights (Ctrl-C: the best so far).",
    ),
    "methods": ("studies.cli.methods:methods_command", "List all methods and bounds."),
    "show-versions": (
        "studies.cli.methods:show_versions_command",
        "Print versions and hardware, for bug reports and papers.",
    ),
    "study run": (
        "studies.cli.study:study_run_command",
        "Run whatever a study still lacks (Ctrl-C: what is done is kept).",
    ),
    "study table": (
        "studies.cli.study:study_table_command",
        "Tabulate a study: gaps, bounds, times to targets, tests.",
    ),
    "study plot": ("studies.cli.study:study_plot_command", "Draw the figures of a study."),
    "study report": (
        "studies.cli.study:study_report_command",
        "Write a page with the tables, figures, proofs and failures of a study.",
    ),
    "study adversary": (
        "studies.cli.adversary:adversary_command",
        "Search small instances on which a heuristic does worst.",
    ),
    **{f"study {name}": row for name, row in PAPER_STUDIES.items()},
    "library list": (
        "studies.cli.library:library_list_command",
        "List instances with their best bounds and schedules.",
    ),
    "library show": (
        "studies.cli.library:library_show_command",
        "Show an instance, its best bound and its best schedule, with their origin.",
    ),
    "library check": (
        "studies.cli.library:library_check_command",
        "Verify schedules, bounds without search and certificates; list violations (status 1).",
    ),
    "library update": (
        "studies.cli.library:library_update_command",
        "Run methods, keep only what is better (Ctrl-C: all but what is in flight).",
    ),
    "library gaps": (
        "studies.cli.library:library_gaps_command",
        "Hold a study on the library (`study run library`) against the ledger.",
    ),
}
"""Every command: where its function (or `PaperStudy`) is, and the line about it in the list of commands.

A command is imported when it runs or explains itself, so that lists of commands and most mistakes cost nothing.
"""

GROUPS = {
    "study": "Run, tabulate and plot many instances x many methods.",
    "library": "The reference library: instances, best bounds, best schedules.",
}
"""Commands that have commands of their own."""


class LazyGroup(TyperGroup):
    """The commands of `COMMANDS` whose names begin with that of the group; each is imported on first use."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        prefix = f"{self.name} " if self.name else ""
        own = {name.removeprefix(prefix): row for name, row in COMMANDS.items() if name.startswith(prefix)}
        self._rows = {name: row for name, row in own.items() if " " not in name}
        self._groups = self.commands
        self._is_listing = False
        names: dict[str, Any] = dict.fromkeys(self._rows)  # Typer's hints look at nothing else
        self.commands = {**names, **self._groups}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name, None if there is no such command."""
        if cmd_name not in self._rows:
            return self._groups.get(cmd_name)
        place, line = self._rows[cmd_name]
        if self._is_listing:
            return TyperCommand(cmd_name, help=line)
        module, _, name = place.partition(":")
        command = getattr(import_module(module), name)
        if not callable(command):
            from studies.cli.papers import study_command

            command = study_command(cmd_name, command, line)
        single = typer.Typer(rich_markup_mode=None, add_completion=False)
        single.command(cmd_name)(command_of(command))
        return get_command(single)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """List the commands that begin like this for a shell, without importing them."""
        self._is_listing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._is_listing = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands without importing them."""
        lines = {name: line for name, (_, line) in self._rows.items()}
        with formatter.section("Commands"):
            formatter.write_dl([*lines.items(), *((name, GROUPS[name]) for name in self._groups)])


# Plain help, and a completion script only for a shell that is named: Rich would be imported for other help, the shell
# around a process cannot always be found out, and start-up is part of the contract.
app = typer.Typer(cls=LazyGroup, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
for _name, _help in GROUPS.items():
    app.add_typer(typer.Typer(cls=LazyGroup, rich_markup_mode=None), name=_name, help=_help)


def _print_version(is_asked: bool) -> None:
    """Print the version and end."""
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print_text(f"optgap {version('optgap')}")
        except PackageNotFoundError:
            print_text("optgap (not installed)")
        raise typer.Exit


def _show_completion(shell: str | None) -> None:
    """Print the script that makes a shell complete commands, options and names, and end."""
    if shell is not None:
        from typer.completion import get_completion_script  # type: ignore[attr-defined]  # imported there by Typer

        print_text(get_completion_script(prog_name="optgap", complete_var=COMPLETION, shell=shell))
        raise typer.Exit


@app.callback(epilog='Exit status: 0 done, 1 the answer is "no", 2 misuse or bad input, 3 an error in this software.')
def _optgap(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
    show_completion: Annotated[
        str | None,
        typer.Option(
            "--show-completion",
            metavar="SHELL",
            help='Print the completion script of bash, zsh or fish: eval "$(optgap --show-completion bash)".',
            is_eager=True,
            callback=_show_completion,
            **Names("bash", "zsh", "fish").given("--show-completion"),
        ),
    ] = None,
) -> None:
    """How far schedulers of machine-learning work on heterogeneous GPUs are from optimal, with proofs."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status.

    `arguments` lack the name of the program; by default they are those of the process.
    """
    status: int | None = None
    open_streams()
    requests: list[float] = []
    try:
        with _one_line_warnings(), listening(requests):
            if COMPLETION in os.environ:  # a shell asks; Typer's classes replace those of Click, which ask otherwise
                from typer.completion import completion_init  # type: ignore[attr-defined]  # imported there by Typer

                completion_init()
            given = sys.argv[1:] if arguments is None else list(arguments)
            status = app(args=given, prog_name="optgap", standalone_mode=False)
    except BadInputError as error:
        note(str(error))
        status = BAD_INPUT
    except MemoryError:
        note("optgap: expected something that fits into memory.")
        status = BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except Exception as error:
        status = SOFTWARE_ERROR
        if hasattr(error, "format_message"):
            note(usage_line(error))
            status = BAD_INPUT
        elif type(error).__name__ == "ContradictionError":  # its class would import NumPy here
            note(f"optgap: {error}")
        else:
            traceback.print_exc()
    if status == INTERRUPTED and requests:
        status = TERMINATED
    sys.exit(DONE if status is None else status)


REPEATED_SECONDS = 1.0
"""A second SIGTERM within this time asks for nothing new: the command `timeout` sends two at once."""


AGAIN_SECONDS = 0.05
"""A request that came while an object was being deleted, where Python drops it, is made again after this time."""


class StopRequestError(KeyboardInterrupt):
    """Ctrl-C or SIGTERM: Python kills its own process where a plain `KeyboardInterrupt` has passed a call of `exec`."""


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """Handle a signal that no method listens to."""
    raise StopRequestError


@contextmanager
def listening(requests: list[float]) -> Iterator[None]:
    """Let SIGTERM, which batch systems send before they kill, do what Ctrl-C does; keep the times at which it came."""

    def hear(number: int, frame: FrameType | None) -> None:
        is_repeated = bool(requests) and time.monotonic() - requests[-1] < REPEATED_SECONDS
        requests.append(time.monotonic())
        if is_repeated:
            return
        ctrl_c = signal.getsignal(signal.SIGINT)
        if not callable(ctrl_c) or ctrl_c is signal.default_int_handler:  # ignored in the background jobs of a script
            ctrl_c = _stop
        ctrl_c(number, frame)

    def try_again(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            kept(unraisable)
            return
        threading.Timer(AGAIN_SECONDS, signal.raise_signal, [signal.SIGINT]).start()

    kept = sys.unraisablehook
    handlers = {signal.SIGINT: _stop, signal.SIGTERM: hear}
    is_main = threading.current_thread() is threading.main_thread()
    heard = [number for number in handlers if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in heard:
        signal.signal(number, handlers[number])
    sys.unraisablehook = try_again
    try:
        yield
    finally:
        sys.unraisablehook = kept
        for number in heard:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show warnings as one line without the source of the code, and none of Matplotlib's about its own folders."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
        yield


if __name__ == "__main__":
    main()
