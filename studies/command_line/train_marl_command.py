"""`optgap train marl` and `optgap train marl-gossip`, behind the command `train`."""

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


def train_marl_command(
    out: Path, *, learner: str, seed: int, updates: int | None, set_: Sequence[str], as_json: bool
) -> None:
    """Train the multi-agent policy and write its network, or those of all agents.

    Parameters
    ----------
    out
        Where to, ``.npz``; beside it go a ``.json`` and, as ``-imitated.npz``, the network after imitation.
    learner
        ``marl``, by the central trainer, or ``marl-gossip``.
    seed
        Of everything random.
    updates
        Of the policy gradient; None for the default.
    set_
        ``key=value`` of the other `TrainingSettings`, or `GossipSettings`.
    as_json
        Whether one JSON document is printed.
    """
    from heuristics.jobs.marl.gossip.gossip_settings import CENTRAL_ONLY, GossipSettings
    from heuristics.jobs.marl.training.training_settings import TrainingSettings

    has_gossip = learner == "marl-gossip"
    kind = GossipSettings if has_gossip else TrainingSettings
    further = set_parameters(learner, kind, set_, without=["updates", *(CENTRAL_ONLY if has_gossip else ())])
    option_of_place = {"updates": "--updates"} | {name: f"--set {name}" for name in further}
    with options(option_of_place, learner):
        settings = kind(**{**further, **({} if updates is None else {"updates": updates})})
    words = ["optgap", "train", learner, "--seed", str(seed), "--updates", str(settings.updates)]
    for name, value in further.items():
        words += ["--set", f"{name}={value}"]
    from studies.train_marl import imitated_path, train_marl, write_marl_training

    control = imitated_path(out) if settings.imitation_episodes else None
    check_writable(control)
    with RunProgress() as progress, options(option_of_place, learner):
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
    if has_gossip:
        sent = document["gossip"]["traffic_per_update"]["gossip"]
        rows["gossip"] = (
            f"{document['gossip']['exchanges']} exchanges per update, "
            f"{sent['critic_messages'] + sent['signal_messages']} messages, "
            f"{(sent['critic_bytes'] + sent['signal_bytes']) / 1e6:.2f} MB"
        )
    print_text(aligned(rows))
