"""Commands of `library`: the reference library that papers cite."""

import typer

from studies.commands.library_check import library_check
from studies.commands.library_gaps import library_gaps
from studies.commands.library_list import library_list
from studies.commands.library_show import library_show
from studies.commands.library_update import library_update

library = typer.Typer(rich_markup_mode=None, help="The reference library: instances, best bounds, best schedules.")
library.command("list")(library_list)
library.command("show")(library_show)
library.command("check")(library_check)
library.command("update")(library_update)
library.command("gaps")(library_gaps)
