"""The command `study NAME` of every experiment of a single paper (`studies.papers.study.PAPER_STUDIES`)."""

from collections.abc import Callable, Iterator
from dataclasses import Field, fields, make_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from solvers.table import wide_tables
from studies.cli import options as opt
from studies.cli.output import check_outputs, note, print_json, print_text, write_figure, write_text_output
from studies.cli.progress import RunProgress
from studies.input import options as naming_options
from studies.options import option
from studies.papers.study import PaperStudy
from studies.parameters import key_value_pairs


def study_command(name: str, study: PaperStudy, line: str) -> Callable[..., None]:
    """Return the function of the command: its parameters are the options, the files that it can write, and --json."""
    files: dict[str, Any] = {}
    texts: dict[str, Callable[[Any], str]] = {}
    if study.csv is not None:
        files["csv"] = option(None, f"CSV to write, {study.csv.rows}.", file="written")
        texts["csv"] = study.csv.make
    if study.has_markdown:
        files["markdown"] = option(None, "Markdown table to write.", file="written")
        tables = study.markdown_tables or study.tables
        texts["markdown"] = lambda result: "\n".join(table.to_markdown() for table in tables(result))
    figure = study.figure
    if figure is not None:
        files["figure"] = option(None, f"{figure.help}: .png, .pdf or .svg.")
    outputs: Any = make_dataclass("Outputs", [(file, Path | None, each) for file, each in files.items()])

    def command(chosen: Any, written: Any, is_wide: opt.WIDE = False, as_json: opt.AS_JSON = False) -> None:
        picture = getattr(written, "figure", None)
        check_outputs(
            list(_files(chosen, "read")), [*_files(chosen, "written"), *_files(written, "written")], figure=picture
        )
        with naming_options(_flags(chosen), name), PaperProgress() as progress:
            result = study.run(chosen, progress)
        for file, make in texts.items():
            write_text_output(getattr(written, file), partial(make, result))
        if figure is not None:
            write_figure(picture, partial(figure.draw, result), **figure.save)
        if as_json:
            print_json(study.document(result, chosen))
        else:
            with wide_tables(is_wide):
                print_text("\n\n".join(table.to_text() for table in study.tables(result)))

    command.__name__ = f"study {name}"
    command.__annotations__ |= {"chosen": study.options, "written": outputs}
    command.__doc__ = f"{line}\n\n{study.description}"
    return command


class PaperProgress(RunProgress):
    """A bar of what is going on, and notes on stderr."""

    def note(self, text: str) -> None:
        """Print a line on stderr."""
        note(text)


def _files(chosen: Any, use: str) -> Iterator[Path | None]:
    """Yield the files among the options that are read, or that are written."""
    for each in fields(chosen):
        if _spec(each).file == use:
            value = getattr(chosen, each.name)
            yield from value if isinstance(value, list) else [value]


def _flags(chosen: Any) -> dict[str, str]:
    """Return the option behind every field, and behind every parameter that ``--set`` names."""
    flags = {each.name: opt.flag_of(each.name, _spec(each)) for each in fields(chosen)}
    return {key: f"--set {key}" for key, _ in key_value_pairs(getattr(chosen, "set_", None) or [])} | flags


def _spec(each: Field[Any]) -> Any:
    """Return how a field is given on the command line."""
    return each.metadata["option"]
