"""Holds shipped networks to instances that nobody has looked at: `python -m tests.benchmarks.run_ddqn_check`.

The stored held-out set was seen while the number of training steps was chosen; a fresh entropy gives a clean number.
Writes a line of JSON per contestant and instance, and prints the shares of instances on which each network alone
(greedy, no wish) is better than itself untrained, than RTGS's greedy generator and than HEFT, as
`heuristics.dag.worl_rtgs.evaluate.compare_fitness` counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

import heuristics.dag.worl_rtgs
from heuristics.dag.worl_rtgs.evaluate import heft_fitness, network_fitness, rtgs_greedy_fitness
from heuristics.dag.worl_rtgs.network import initial_weights, load_weights, weights_sha256
from instances.text_file import write_text
from studies.papers.published import GREEDY, HEFT, UNTRAINED, network_shares
from tests.benchmarks.make_ddqn_instances import make


def main() -> None:
    """Make the instances and let every shipped network and its rivals place them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--entropy", type=int, default=303, help="any but 101 and 202, those of the stored sets")
    parser.add_argument("--out", type=Path, help="file for the rows, .jsonl")
    options = parser.parse_args()
    instances = make("fresh", options.count, (20_251_122, options.entropy))
    fitness = {HEFT: heft_fitness(instances), GREEDY: rtgs_greedy_fitness(instances)}
    for path in sorted((Path(heuristics.dag.worl_rtgs.__file__).parent / "weights").glob("*.npz")):
        document = json.loads(path.with_suffix(".json").read_text())
        start = initial_weights(np.random.default_rng(np.random.SeedSequence(document["seed"]).spawn(1)[0]))
        assert weights_sha256(start) == document["start_weights_sha256"]
        fitness[path.stem] = network_fitness(instances, load_weights(path))
        fitness[f"{path.stem}{UNTRAINED}"] = network_fitness(instances, start)
    rows = [
        {"contestant": name, "instance": number, "overflow": overflow, "makespan": makespan}
        for name, found in fitness.items()
        for number, (overflow, makespan) in enumerate(found.tolist())
    ]
    if options.out is not None:
        write_text(options.out, "".join(json.dumps(row) + "\n" for row in rows))
    print("\n".join(table.to_markdown() for table in network_shares(pd.DataFrame(rows))))


if __name__ == "__main__":
    main()
