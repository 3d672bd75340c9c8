"""What the commands on studies share: specifications, stores and their budgets."""

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from instances.fields import one_of
from studies.input import BadInputError, options, reading

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from studies.experiment.specification import StudySpec
    from studies.experiment.store import StudyStore


STORE = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a study that `optgap study run` made.")]


def read_spec(text: str) -> "tuple[str, StudySpec]":
    """Return the name of the file and what it says."""
    from studies.experiment.read_specification import read_study_spec, spec_path

    with options({}, text):
        path = spec_path(text)
    with reading(path):
        return str(path), read_study_spec(path)


def on_store(parameter: str) -> "Callable[[Callable[..., Any]], Callable[..., Any]]":
    """Decorate a command such that what is wrong in a store is told in one line; the parameter names the folder."""

    def decorated(function: "Callable[..., Any]") -> "Callable[..., Any]":
        @wraps(function)
        def command(**values: Any) -> Any:
            try:
                return function(**values)
            except BadInputError:
                raise
            except Exception as error:
                from studies.experiment.check_store import blame_store

                blame_store(values[parameter], error)
                raise

        return command

    return decorated


def open_study(folder: Path) -> "StudyStore":
    """Open the store of a folder."""
    from studies.experiment.store import StudyStore

    try:
        return StudyStore(folder)
    except FileNotFoundError as error:
        raise BadInputError(f"{folder}: expected the folder of a study, got one without a store.") from error
    except ValueError as error:
        raise BadInputError(f"{folder}: {error}") from error


def budgets_of_study(frame: "pd.DataFrame", wanted: str | None, folder: Path) -> list[str]:
    """Return the budgets of a study's searches, or the one that is wanted."""
    if frame.empty:
        raise BadInputError(f"{folder}: expected finished runs of methods, got none yet.")
    from studies.analysis.gaps import ANY_BUDGET, budgets_of

    known = budgets_of(frame) or [ANY_BUDGET]
    if wanted is None:
        return known
    with options({"budget": "--budget"}, str(folder)):
        return [one_of(wanted, known, "budget")]
