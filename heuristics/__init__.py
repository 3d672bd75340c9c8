"""Methods without a proof: list scheduling and search."""

from heuristics.callback import Callback as Callback
