"""Several chains at once."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from solvers.exact_run import ExactRun
    from solvers.lns.chain import Chain


def work_together(make_chain: Callable[[ExactRun, int], Chain], run: ExactRun) -> float:
    """Let one chain per thread work; return the seconds that they spent in CP-SAT.

    The first one works in the calling thread, which hears Ctrl-C. All stop when it does, and it stops when one of them
    fails; the failure is raised here.

    Parameters
    ----------
    make_chain
        Makes the chain of a member, who has to heed the given run.
    run
        With the number of threads.
    """
    is_over, errors = threading.Event(), list[BaseException]()
    heeded = replace(run, should_stop=lambda: is_over.is_set() or run.should_stop())
    chains = [make_chain(heeded, member) for member in range(run.threads)]

    def work(chain: Chain) -> None:
        try:
            chain.work()
        except BaseException as error:
            errors.append(error)
            is_over.set()

    others = [threading.Thread(target=work, args=(chain,), daemon=True) for chain in chains[1:]]
    for thread in others:
        thread.start()
    try:
        chains[0].work()
    finally:
        is_over.set()
        for thread in others:
            thread.join()
    if errors:
        raise errors[0]
    return sum(chain.seconds for chain in chains)
