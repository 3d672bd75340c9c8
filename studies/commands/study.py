"""Commands of `study`: many instances x many methods."""

import typer

from studies.commands.actor_critic import actor_critic
from studies.commands.adversary import adversary
from studies.commands.decision_latency import decision_latency
from studies.commands.interference import interference
from studies.commands.marl_ablations import marl_ablations
from studies.commands.online import online
from studies.commands.plan_distance import plan_distance
from studies.commands.study_plot import study_plot
from studies.commands.study_report import study_report
from studies.commands.study_run import study_run
from studies.commands.study_table import study_table

study = typer.Typer(rich_markup_mode=None, help="Run, tabulate and plot many instances x many methods.")
study.command("run")(study_run)
study.command("table")(study_table)
study.command("plot")(study_plot)
study.command("report")(study_report)
study.command("plan-distance")(plan_distance)
study.command("online")(online)
study.command("adversary")(adversary)
study.command("actor-critic")(actor_critic)
study.command("interference")(interference)
study.command("marl-ablations")(marl_ablations)
study.command("decision-latency")(decision_latency)
