"""`optgap train marl`, behind the command `train`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.aligned import aligned
from studies.command_line.bad_input import options, writing
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_writable
from studies.command_line.run_progress import RunProgress
from studies.command_line.set_parameters import set_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def train_marl_command(out: Path, *, seed: int, updates: int | None, set_: Sequence[str], as_json: bool) -> None:
    """Train the multi-agent policy and write its network.

    Parameters
    ----------
    out
        Where to, ``.npz``; beside it go a ``.json`` and, as ``-imitated.npz``, the network after imitation.
    seed
        Of everything random.
    updates
        Of the policy gradient; None for the default.
    set_
        ``key=value`` of the other `TrainingSettings`.
    as_json
        Whether one JSON document is printed.
    """
    from heuristics.jobs.marl.training.training_settings import TrainingSettings

    further = set_parameters("marl", TrainingSettings, set_, without=["updates"])
    option_of_place = {"updates": "--updates"} | {name: f"--set {name}" for name in further}
    with options(option_of_place, "marl"):
        settings = TrainingSettings(**{**further, **({} if updates is None else {"updates": updates})})
    words = ["optgap", "train", "marl", "--seed", str(seed), "--updates", str(settings.updates)]
    for name, value in further.items():
        words += ["--set", f"{name}={value}"]
    from studies.train_marl import imitated_path, train_marl, write_marl_training

    control = imitated_path(out) if settings.imitation_episodes else None
    check_writable(control)
    with RunProgress() as progress, options(option_of_place, "marl"):
        network, imitated, document = train_marl(
            settings, seed=seed, command=" ".join([*words, "--out", "FILE"]), on_progress=progress.update
        )
    with writing(out):
        write_marl_training(out, network, document, imitated)
    beside = out.with_suffix(".json")
    if as_json:
        print_json({"weights": str(out), "provenance": str(beside), **document})
        return
    ratio = document["held_out"]["mean_ratio"]
    others = ", ".join(f"{name} {value:.4f}" for name, value in ratio.items() if name not in ("teacher", "trained"))
    rows = {
        "weights": f"{out} ({document['weights_sha256'][:16]}...)",
        **({} if imitated is None else {"imitated": f"{control} ({imitated.sha256[:16]}...)"}),
        "provenance": str(beside),
        "updates": f"{document['curve'][-1]['updates'] if document['curve'] else 0} in {document['seconds']:.0f} s"
        + (", interrupted" if document["interrupted"] else ""),
        "held out": f"{ratio['trained']:.4f} of the teacher's mean JCT on {document['held_out']['instances']} instances"
        f" ({others})",
    }
    if document["curve"]:
        rows["validation"] = f"{document['validation']['mean_ratio']:.4f} of the teacher's mean JCT"
    print_text(aligned(rows))
