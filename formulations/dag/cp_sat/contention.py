"""Transfers between servers in the CP-SAT model: intervals on the two sides of network interfaces."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.cp_sat.constraints import GaveUpError
from instances.dag.contention import server_of_gpu
from instances.dag.objective import finish_times
from instances.dag.schedule import NO_TRANSFER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.cp_sat.constraints import Variables
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ContentionVariables:
    """What contention adds to the model; servers are numbered as by `server_of_gpu`.

    Parameters
    ----------
    start
        Start of the transfer along an edge, for the edges that may run between servers; if it does not, any time
        between the two tasks.
    delay
        For those of them with delays of several lengths: the delay, and the end of the transfer.
    on_server
        Literal "task i sits on server u", where no literal of a GPU says so.
    leaves, enters
        Literals "the transfer along edge e leaves (enters) server u", where no other literal says so.
    """

    start: dict[int, cp_model.IntVar] = field(default_factory=dict)
    delay: dict[int, tuple[cp_model.IntVar, cp_model.IntVar]] = field(default_factory=dict)
    on_server: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)
    leaves: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)
    enters: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)

    @property
    def num_literals(self) -> int:
        """Number of Boolean decisions that were added."""
        return len(self.on_server) + len(self.leaves) + len(self.enters)

    def transfer_start(self, instance: DagInstance, value: Callable[[cp_model.IntVar], int]) -> NDArray[np.int64]:
        """Return the starts of transfers in a solution, shape (edges,); those within a server mean nothing."""
        starts = np.full(instance.num_edges, NO_TRANSFER, dtype=np.int64)
        for edge, variable in self.start.items():
            starts[edge] = value(variable)
        return starts


def add_contention(
    model: cp_model.CpModel,
    instance: DagInstance,
    variables: Variables,
    within: Windows,
    should_give_up: Callable[[], bool],
) -> ContentionVariables:
    """Let transfers between servers occupy the interfaces of both, one at a time on each side.

    Per edge a start S with finish of the predecessor <= S and S + delay <= start of the successor, the delay from the
    literals of `add_transfers`; per server u that the edge may leave the literal "its tail is on u and its head is not"
    and an optional interval from S on, in the no-overlap of u's outgoing side; the same for the servers it may enter.
    The interval has a fixed size if all links between u and other servers give the edge the same delay. So an edge
    takes 2 literals and intervals per server, not one per pair of GPUs. Everything else in the model holds with and
    without contention (docs/formulations.md, section 4.5; ours).
    """
    added, servers = ContentionVariables(), server_of_gpu(instance).tolist()
    on_server = _on_server(model, variables, servers, added)
    sides: dict[tuple[str, int], list[cp_model.IntervalVar]] = defaultdict(list)
    for edge, (tail, head) in enumerate(instance.edges.tolist()):
        if should_give_up():
            raise GaveUpError
        delays = instance.transfer_delays(edge)
        lengths: dict[tuple[str, int], set[int]] = defaultdict(set)
        for k, l in product(variables.gpus[tail], variables.gpus[head]):
            if servers[k] != servers[l] and delays[k, l] > 0:
                lengths["leaves", servers[k]].add(int(delays[k, l]))
                lengths["enters", servers[l]].add(int(delays[k, l]))
        if not lengths:
            continue
        reached = variables.delay_reached[edge]
        needs_delay = any(len(values) > 1 for values in lengths.values())
        _add_start(model, instance, variables, within, added, edge, needs_delay)
        for (side, server), values in lengths.items():
            here, there = (tail, head) if side == "leaves" else (head, tail)
            new = added.leaves if side == "leaves" else added.enters
            crosses = _crosses(model, on_server, new, edge, here, there, server)
            sides[side, server].append(_interval(model, added, edge, values, crosses, f"{side}[{edge},{server}]"))
            least = next(literal for delay, literal in reached if delay >= min(values))
            if crosses is not True:
                model.add_implication(crosses, least)  # redundant: at least this delay, whatever the other end
    for intervals in sides.values():
        if len(intervals) > 1:
            model.add_no_overlap(intervals)
    return added


def hint_contention(
    model: cp_model.CpModel, instance: DagInstance, added: ContentionVariables, schedule: DagSchedule
) -> None:
    """Hint the variables of contention; transfers without a start of their own start when their data is ready."""
    servers, gpu = server_of_gpu(instance), schedule.gpu
    finish = finish_times(instance, schedule)
    for (task, server), literal in added.on_server.items():
        model.add_hint(literal, bool(servers[gpu[task]] == server))
    for literals, side in ((added.leaves, 0), (added.enters, 1)):
        for (edge, server), literal in literals.items():
            here, there = servers[gpu[instance.edges[edge]]][:: 1 - 2 * side]
            model.add_hint(literal, bool(here == server != there))
    for edge, variable in added.start.items():
        tail, head = instance.edges[edge].tolist()
        begin = int(finish[tail])
        if schedule.transfer_start is not None and schedule.transfer_start[edge] != NO_TRANSFER:
            begin = int(schedule.transfer_start[edge])
        model.add_hint(variable, begin)
        if edge in added.delay:
            ticks = instance.transfer_delay(edge, gpu[tail], gpu[head])
            delay, end = added.delay[edge]
            model.add_hint(delay, ticks)
            model.add_hint(end, begin + ticks)


def lacks_starts(instance: DagInstance, added: ContentionVariables, schedule: DagSchedule) -> bool:
    """Say whether a schedule leaves the start of a contended transfer open, so that it is no hint."""
    tails, heads = instance.edges[list(added.start)].T
    servers = server_of_gpu(instance)[schedule.gpu]
    contended = np.array(list(added.start), dtype=np.int64)[servers[tails] != servers[heads]]
    if schedule.transfer_start is None:
        return len(contended) > 0
    return bool((schedule.transfer_start[contended] == NO_TRANSFER).any())


def _on_server(
    model: cp_model.CpModel, variables: Variables, servers: list[int], added: ContentionVariables
) -> dict[tuple[int, int], cp_model.LiteralT]:
    """Return a literal for every task and server that is left, True where only one server is left."""
    literals: dict[tuple[int, int], cp_model.LiteralT] = {}
    for task, left in enumerate(variables.gpus):
        on_gpus: dict[int, list[cp_model.IntVar]] = defaultdict(list)
        for k in left:
            on_gpus[servers[k]].append(variables.on[task, k])
        for server, on in on_gpus.items():
            if len(on_gpus) == 1:
                literals[task, server] = True
            elif len(on) == 1:
                literals[task, server] = on[0]
            else:
                literal = model.new_bool_var(f"on_server[{task},{server}]")
                model.add_bool_or([*on, ~literal])
                for one in on:
                    model.add_implication(one, literal)
                literals[task, server] = added.on_server[task, server] = literal
    return literals


def _add_start(
    model: cp_model.CpModel,
    instance: DagInstance,
    variables: Variables,
    within: Windows,
    added: ContentionVariables,
    edge: int,
    needs_delay: bool,
) -> None:
    """Add the start of a transfer between its two tasks and, if it is needed, its delay and end."""
    from ortools.sat.python import cp_model

    tail, head = instance.edges[edge].tolist()
    durations, around = instance.durations, within.around
    low = min(int(around.heads[tail, k] + durations[tail, k]) for k in variables.gpus[tail])
    high = max(int(within.latest_finish[head, k] - durations[head, k]) for k in variables.gpus[head])
    low = min(low, high)  # if low > high there is no schedule, as the rows below say
    start = added.start[edge] = model.new_int_var(low, high, f"transfer[{edge}]")
    steps = [0, *(ticks for ticks, _ in variables.delay_reached[edge])]
    literals = [literal for _, literal in variables.delay_reached[edge]]
    delay = cp_model.LinearExpr.weighted_sum(literals, np.diff(steps).tolist())
    model.add(start >= variables.finish[tail])
    model.add(start + delay <= variables.start[head])
    if needs_delay:
        length = model.new_int_var(0, steps[-1], f"delay[{edge}]")
        end = model.new_int_var(low, high + steps[-1], f"arrival[{edge}]")
        model.add(length == delay)
        model.add(end == start + length)
        added.delay[edge] = (length, end)


def _crosses(
    model: cp_model.CpModel,
    on_server: dict[tuple[int, int], cp_model.LiteralT],
    new: dict[tuple[int, int], cp_model.IntVar],
    edge: int,
    here: int,
    there: int,
    server: int,
) -> cp_model.LiteralT:
    """Return a literal for "task `here` is on the server and task `there` is not"."""
    inside, outside = on_server[here, server], on_server.get((there, server), False)
    if outside is False:
        return inside
    if inside is True:
        return ~outside
    literal = model.new_bool_var(f"crosses[{edge},{here},{server}]")
    model.add_implication(literal, inside)
    model.add_implication(literal, ~outside)
    model.add_bool_or(literal, ~inside, outside)
    new[edge, server] = literal
    return literal


def _interval(
    model: cp_model.CpModel,
    added: ContentionVariables,
    edge: int,
    lengths: set[int],
    crosses: cp_model.LiteralT,
    name: str,
) -> cp_model.IntervalVar:
    """Return the interval of a transfer on one side of a server."""
    start = added.start[edge]
    if len(lengths) == 1:
        (length,) = lengths
        if crosses is True:
            return model.new_fixed_size_interval_var(start, length, name)
        return model.new_optional_fixed_size_interval_var(start, length, crosses, name)
    delay, end = added.delay[edge]
    if crosses is True:
        return model.new_interval_var(start, delay, end, name)
    return model.new_optional_interval_var(start, delay, end, crosses, name)
