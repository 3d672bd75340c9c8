"""Files that a command writes beside its answer, where they are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.bad_input import writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from matplotlib.axes import Axes


def write_output(path: Path | None, write: Callable[[Path], object]) -> None:
    """Write a file by a function of its path; None is no file, and nothing is called.

    Raises
    ------
    BadInputError
        If it cannot be written.
    """
    if path is not None:
        with writing(path):
            write(path)


def write_text_output(path: Path | None, text: Callable[[], str]) -> None:
    """Write a text, which is made only if it is wanted; the rest is as in `write_output`."""
    write_output(path, lambda file: file.write_text(text(), encoding="utf-8"))


def write_figure(path: Path | None, axes: Callable[[], Axes], *, dpi: int = 150, **options: Any) -> None:
    """Write the figure of axes, which are drawn only if they are wanted; the rest is as in `write_output`.

    Parameters
    ----------
    path
        Its ending says the format.
    axes
        Draws.
    dpi
        Dots per inch where the format has dots.
    options
        Others of `Figure.savefig`.
    """
    if path is None:
        return
    figure = axes().get_figure(root=True)
    assert figure is not None  # the axes were just made with one
    write_output(path, lambda file: figure.savefig(file, dpi=dpi, **options))
