"""Command `train`: the learned parts, from a seed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.cli import options as opt
from studies.cli.output import check_outputs, check_suffix, check_writable, print_json, print_text
from studies.cli.progress import RunProgress
from studies.input import BadInputError, options, quoted, reading, writing
from studies.options import Names, option
from studies.parameters import set_parameters
from studies.text import aligned

if TYPE_CHECKING:
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig

LEARNERS = ("worl-rtgs", "marl", "marl-gossip")
"""What can be trained."""

FINE_TUNING = {"steps": 40_000, "learning_rate": 1e-4, "epsilon_start": 0.1, "warm_up": 500, "validate_every": 2_000}
"""Recipe of fine-tuning where it differs from training from nothing; ours."""

MAX_STEPS = 1_000_000_000
"""Most steps that may be asked for; more is a slip of the finger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What is trained, from what, and how long."""

    learner: str = option(
        ...,
        "What to train: worl-rtgs, marl or marl-gossip.",
        metavar="METHOD",
        is_argument=True,
        names=Names(*LEARNERS),
    )
    out: Path = option(..., "Weights to write, .npz; a .json goes next to them.", short="-o")
    seed: opt.SEED = 0
    steps: int | None = option(
        None,
        "Placements of tasks for worl-rtgs; default that of the shipped weights, 40000 with --fine-tune.",
        low=1,
        high=MAX_STEPS,
    )
    updates: int | None = option(
        None,
        "Policy updates of marl or marl-gossip; default that of its settings, 0 for imitation only.",
        low=0,
        high=MAX_STEPS,
    )
    gamma: float | None = option(None, "Discount of later rewards; default 1.", above=0, high=1)
    fine_tune: Path | None = option(None, "Instance to tune to, a JSON file of format optgap/dag.", metavar="INSTANCE")
    spread: float | None = option(
        None,
        "With --fine-tune: deviation of the logarithmic noise on durations and bytes; default 0.1, 0 for none.",
        low=0,
        high=10,
    )
    weights: Path | None = option(None, "Weights to begin with; default the shipped ones to fine-tune.")
    set_: opt.SET = None


def train_command(asked: TrainOptions, as_json: opt.AS_JSON = False) -> None:
    """Train a learned method and write its weights (Ctrl-C: the best so far)."""
    learner, out = asked.learner, asked.out
    of_others = ("updates",) if learner == "worl-rtgs" else ("steps", "gamma", "fine_tune", "spread", "weights")
    for name in of_others:
        if (value := getattr(asked, name)) is not None:
            raise BadInputError(f"--{name.replace('_', '-')}: expected none with {learner}, got {quoted(value)}.")
    if asked.spread is not None and asked.fine_tune is None:
        raise BadInputError(f"--spread: expected none without --fine-tune, got {asked.spread:g}.")
    check_suffix(out, (".npz",))
    check_outputs([asked.fine_tune, asked.weights], [out, out.with_suffix(".json")])
    document, rows = _train_worl_rtgs(asked) if learner == "worl-rtgs" else _train_marl(asked)
    beside = out.with_suffix(".json")
    if as_json:
        print_json({"weights": str(out), "provenance": str(beside), **document})
    else:
        weights = {"weights": f"{out} ({document['weights_sha256'][:16]}...)"}
        print_text(aligned({**weights, **rows}))


def _train_worl_rtgs(asked: TrainOptions) -> tuple[dict[str, Any], dict[str, str]]:
    """Train the network of WORL-RTGS; return the document of the training, and rows for the terminal."""
    from heuristics.dag.worl_rtgs.network import load_weights, shipped_weights
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from instances.dag.json import read_dag_instance
    from studies.papers.training import train_worl_rtgs, write_training

    given = {"steps": asked.steps, "gamma": asked.gamma}
    chosen = {name: value for name, value in given.items() if value is not None}
    further = set_parameters(asked.learner, TrainingConfig, asked.set_ or [], without=list(given))
    flags = {"steps": "--steps", "gamma": "--gamma"} | {name: f"--set {name}" for name in further}
    with options(flags, asked.learner):
        config = TrainingConfig(**{**(FINE_TUNING if asked.fine_tune is not None else {}), **chosen, **further})
    instance = start = None
    if asked.fine_tune is not None:
        with reading(asked.fine_tune):
            instance = read_dag_instance(asked.fine_tune)
            if not 1 <= instance.num_tasks <= config.replay:
                raise ValueError(f"tasks: expected 1 to {config.replay} (--set replay), got {instance.num_tasks}.")
        start = shipped_weights()
    if asked.weights is not None:
        with reading(asked.weights):
            try:
                start = load_weights(asked.weights)
            except ValueError as error:  # names the file itself
                raise BadInputError(str(error)) from error
    with RunProgress() as progress:
        progress.update("compiling", 0, config.steps)
        best, document = train_worl_rtgs(
            config,
            seed=asked.seed,
            command=_command(asked, config, further),
            fine_tune=instance,
            spread=0.1 if asked.spread is None else asked.spread,
            start=start,
            on_progress=lambda done, point: progress.update(
                f"{point.validation_ratio:.3f} of HEFT's makespan", min(done, config.steps), config.steps
            ),
        )
    with writing(asked.out):
        write_training(asked.out, best, document)
    held_out = document["held_out"]
    return document, {
        "provenance": str(asked.out.with_suffix(".json")),
        "steps": f"{document['curve'][-1]['steps']} in {_seconds(document)}",
        "validation": f"{document['validation']['mean_ratio']:.4f} of HEFT's makespan",
        "held out": f"{held_out['mean_ratio']:.4f} of HEFT's makespan on {held_out['instances']} instances",
        "beats": f"itself untrained on {held_out['better_than_untrained']:.1%}, "
        f"RTGS's greedy generator on {held_out['better_than_rtgs_greedy']:.1%}, "
        f"HEFT on {held_out['better_than_heft']:.1%}",
    }


def _seconds(document: dict[str, Any]) -> str:
    """Say how long a training took."""
    return f"{document['seconds']:.0f} s" + (", interrupted" if document["interrupted"] else "")


def _command(asked: TrainOptions, config: "TrainingConfig", further: dict[str, object]) -> str:
    """Return the command with the names of files only: no path of a user's machine is published."""
    words = ["optgap", "train", asked.learner, "--seed", str(asked.seed), "--steps", str(config.steps)]
    if asked.gamma is not None:
        words += ["--gamma", f"{asked.gamma:g}"]
    for name, value in further.items():
        words += ["--set", f"{name}={value}"]
    for flag, path in (("--fine-tune", asked.fine_tune), ("--weights", asked.weights)):
        if path is not None:
            words += [flag, path.name]
    if asked.spread is not None:
        words += ["--spread", f"{asked.spread:g}"]
    return " ".join([*words, "--out", "FILE"])


def _train_marl(asked: TrainOptions) -> tuple[dict[str, Any], dict[str, str]]:
    """Train the multi-agent policy by the central trainer (marl) or by gossip (marl-gossip); returns as the other."""
    from heuristics.jobs.marl.gossip.settings import CENTRAL_ONLY, GossipSettings
    from heuristics.jobs.marl.training.settings import TrainingSettings
    from studies.papers.training import imitated_path, train_marl, write_marl_training

    learner, out = asked.learner, asked.out
    has_gossip = learner == "marl-gossip"
    kind = GossipSettings if has_gossip else TrainingSettings
    without = ["updates", *(CENTRAL_ONLY if has_gossip else ())]
    further = set_parameters(learner, kind, asked.set_ or [], without=without)
    flags = {"updates": "--updates"} | {name: f"--set {name}" for name in further}
    with options(flags, learner):
        updates: dict[str, Any] = {} if asked.updates is None else {"updates": asked.updates}
        settings = kind(**further, **updates)
    words = ["optgap", "train", learner, "--seed", str(asked.seed), "--updates", str(settings.updates)]
    for name, value in further.items():
        words += ["--set", f"{name}={value}"]
    control = imitated_path(out) if settings.imitation_episodes else None
    check_writable(control)
    with RunProgress() as progress, options(flags, learner):
        network, imitated, document = train_marl(
            settings, seed=asked.seed, command=" ".join([*words, "--out", "FILE"]), on_progress=progress.update
        )
    with writing(out):
        write_marl_training(out, network, document, imitated)
    ratio, curve = document["held_out"]["mean_ratio"], document["curve"]
    others = ", ".join(f"{name} {value:.4f}" for name, value in ratio.items() if name not in ("teacher", "trained"))
    rows = {} if imitated is None else {"imitated": f"{control} ({imitated.sha256[:16]}...)"}
    rows |= {
        "provenance": str(out.with_suffix(".json")),
        "updates": f"{curve[-1]['updates'] if curve else 0} in {_seconds(document)}",
        "held out": f"{ratio['trained']:.4f} of the teacher's mean JCT on {document['held_out']['instances']} instances"
        f" ({others})",
    }
    if curve:
        rows["validation"] = f"{document['validation']['mean_ratio']:.4f} of the teacher's mean JCT"
    if has_gossip:
        sent = document["gossip"]["traffic_per_update"]["gossip"]
        rows["gossip"] = (
            f"{document['gossip']['exchanges']} exchanges per update, "
            f"{sent['critic_messages'] + sent['signal_messages']} messages, "
            f"{(sent['critic_bytes'] + sent['signal_bytes']) / 1e6:.2f} MB"
        )
    return document, rows
