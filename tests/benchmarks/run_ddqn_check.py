"""Holds shipped networks to instances that nobody has looked at: `python -m tests.benchmarks.run_ddqn_check`.

The stored held-out set was seen while the number of training steps was chosen; a fresh entropy gives a clean number.
One line of JSON per network: the shares of instances on which the network alone (greedy, no wish) is better than
itself untrained, than RTGS's greedy generator and than HEFT, as `heuristics.dag.worl_rtgs.evaluate.compare` counts.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

import heuristics.dag.worl_rtgs
from heuristics.dag.worl_rtgs.evaluate import compare
from heuristics.dag.worl_rtgs.network import initial_weights, load_weights, weights_sha256
from tests.benchmarks.make_ddqn_instances import make


def main() -> None:
    """Make the instances and compare every shipped network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--entropy", type=int, default=303, help="any but 101 and 202, those of the stored sets")
    options = parser.parse_args()
    instances = make("fresh", options.count, (20_251_122, options.entropy))
    for path in sorted((Path(heuristics.dag.worl_rtgs.__file__).parent / "weights").glob("*.npz")):
        document = json.loads(path.with_suffix(".json").read_text())
        start = initial_weights(np.random.default_rng(np.random.SeedSequence(document["seed"]).spawn(1)[0]))
        assert weights_sha256(start) == document["start_weights_sha256"]
        found = compare(instances, load_weights(path), start)
        print(json.dumps({"network": path.stem, **asdict(found)}), flush=True)


if __name__ == "__main__":
    main()
