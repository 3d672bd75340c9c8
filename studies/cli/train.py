"""Command `train`: the learned parts, from a seed."""

from pathlib import Path
from typing import Annotated

import typer

from studies.cli import options as opt
from studies.cli.input import BadInputError, options, quoted, reading, writing
from studies.cli.options import integer, number
from studies.cli.output import check_outputs, check_suffix, check_writable, print_json, print_text
from studies.cli.parameters import set_parameters
from studies.cli.progress import RunProgress
from studies.text import aligned

LEARNERS = ("worl-rtgs", "marl", "marl-gossip")
"""What can be trained."""

FINE_TUNING = {"steps": 40_000, "learning_rate": 1e-4, "epsilon_start": 0.1, "warm_up": 500, "validate_every": 2_000}
"""Recipe of fine-tuning where it differs from training from nothing; ours."""

MAX_STEPS = 1_000_000_000
"""Most steps that may be asked for; more is a slip of the finger."""


def train_command(
    learner: Annotated[str, typer.Argument(metavar="METHOD", help="What to train: worl-rtgs, marl or marl-gossip.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Weights to write, .npz; a .json goes beside them.")
    ],
    seed: opt.SEED = 0,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            parser=integer("--steps", low=1, high=MAX_STEPS),
            metavar="N",
            help="Placements of tasks for worl-rtgs; default that of the shipped weights, 40000 with --fine-tune.",
        ),
    ] = None,
    updates: Annotated[
        int | None,
        typer.Option(
            "--updates",
            parser=integer("--updates", low=0, high=MAX_STEPS),
            metavar="N",
            help="Of marl or marl-gossip; default that of its settings, 0 for imitation only.",
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            "--gamma",
            parser=number("--gamma", high=1.0, low_is_allowed=False),
            metavar="X",
            help="Discount of later rewards; default 1.",
        ),
    ] = None,
    fine_tune: Annotated[
        Path | None,
        typer.Option("--fine-tune", metavar="INSTANCE", help="Instance to tune to, a JSON file of format optgap/dag."),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            "--spread",
            parser=number("--spread", high=10.0),
            metavar="X",
            help="With --fine-tune: deviation of perturbed durations and bytes in logarithms; default 0.1, 0 for none.",
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", metavar="FILE", help="Weights to begin with; default the shipped ones to fine-tune."),
    ] = None,
    set_: opt.SET = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Train a learned method and write its weights (Ctrl-C: the best so far)."""
    if learner not in LEARNERS:
        raise BadInputError(f"METHOD: expected {', '.join(LEARNERS[:-1])} or {LEARNERS[-1]}, got {quoted(learner)}.")
    of_others = {"--steps": steps, "--gamma": gamma, "--fine-tune": fine_tune, "--spread": spread, "--weights": weights}
    if learner == "worl-rtgs":
        of_others = {"--updates": updates}
    for option, value in of_others.items():
        if value is not None:
            raise BadInputError(f"{option}: expected none with {learner}, got {quoted(value)}.")
    if spread is not None and fine_tune is None:
        raise BadInputError(f"--spread: expected none without --fine-tune, got {spread:g}.")
    check_suffix(out, (".npz",))
    beside = out.with_suffix(".json")
    check_outputs([fine_tune, weights], [out, beside])
    if learner != "worl-rtgs":
        train_marl_command(out, learner=learner, seed=seed, updates=updates, set_=set_ or [], as_json=as_json)
        return
    from heuristics.dag.worl_rtgs.network import load_weights, shipped_weights
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from instances.dag.json import read_dag_instance
    from studies.cli.parameters import set_parameters
    from studies.cli.progress import RunProgress

    given = {"steps": steps, "gamma": gamma}
    chosen = {name: value for name, value in given.items() if value is not None}
    further = set_parameters(learner, TrainingConfig, set_ or [], without=list(given))
    option_of_place = {"steps": "--steps", "gamma": "--gamma"} | {name: f"--set {name}" for name in further}
    with options(option_of_place, learner):
        config = TrainingConfig(**{**(FINE_TUNING if fine_tune is not None else {}), **chosen, **further})
    instance = start = None
    if fine_tune is not None:
        with reading(fine_tune):
            instance = read_dag_instance(fine_tune)
            if not 1 <= instance.num_tasks <= config.replay:
                raise ValueError(f"tasks: expected 1 to {config.replay} (--set replay), got {instance.num_tasks}.")
        start = shipped_weights()
    if weights is not None:
        with reading(weights):
            try:
                start = load_weights(weights)
            except ValueError as error:  # names the file itself
                raise BadInputError(str(error)) from error
    from studies.papers.training import train_worl_rtgs, write_training

    with RunProgress() as progress:
        progress.update("compiling", 0, config.steps)
        best, document = train_worl_rtgs(
            config,
            seed=seed,
            command=_command(learner, seed, config.steps, chosen, further, spread, fine_tune, weights),
            fine_tune=instance,
            spread=0.1 if spread is None else spread,
            start=start,
            on_progress=lambda done, point: progress.update(
                f"{point.validation_ratio:.3f} of HEFT's makespan", min(done, config.steps), config.steps
            ),
        )
    with writing(out):
        write_training(out, best, document)
    if as_json:
        print_json({"weights": str(out), "provenance": str(beside), **document})
    else:
        held_out = document["held_out"]
        rows = {
            "weights": f"{out} ({document['weights_sha256'][:16]}...)",
            "provenance": str(beside),
            "steps": f"{document['curve'][-1]['steps']} in {document['seconds']:.0f} s"
            + (", interrupted" if document["interrupted"] else ""),
            "validation": f"{document['validation']['mean_ratio']:.4f} of HEFT's makespan",
            "held out": f"{held_out['mean_ratio']:.4f} of HEFT's makespan on {held_out['instances']} instances",
            "beats": f"itself untrained on {held_out['better_than_untrained']:.1%}, "
            f"RTGS's greedy generator on {held_out['better_than_rtgs_greedy']:.1%}, "
            f"HEFT on {held_out['better_than_heft']:.1%}",
        }
        print_text(aligned(rows))


def _command(
    learner: str,
    seed: int,
    steps: int,
    chosen: dict[str, float],
    further: dict[str, object],
    spread: float | None,
    fine_tune: Path | None,
    weights: Path | None,
) -> str:
    """Return the command with the names of files only: folders are nobody's business."""
    words = ["optgap", "train", learner, "--seed", str(seed), "--steps", str(steps)]
    if "gamma" in chosen:
        words += ["--gamma", f"{chosen['gamma']:g}"]
    for name, value in further.items():
        words += ["--set", f"{name}={value}"]
    for option, path in (("--fine-tune", fine_tune), ("--weights", weights)):
        if path is not None:
            words += [option, path.name]
    if spread is not None:
        words += ["--spread", f"{spread:g}"]
    return " ".join([*words, "--out", "FILE"])


def train_marl_command(
    out: Path, *, learner: str, seed: int, updates: int | None, set_: list[str], as_json: bool
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
    from heuristics.jobs.marl.gossip.settings import CENTRAL_ONLY, GossipSettings
    from heuristics.jobs.marl.training.settings import TrainingSettings

    has_gossip = learner == "marl-gossip"
    kind = GossipSettings if has_gossip else TrainingSettings
    further = set_parameters(learner, kind, set_, without=["updates", *(CENTRAL_ONLY if has_gossip else ())])
    option_of_place = {"updates": "--updates"} | {name: f"--set {name}" for name in further}
    with options(option_of_place, learner):
        settings = kind(**{**further, **({} if updates is None else {"updates": updates})})
    words = ["optgap", "train", learner, "--seed", str(seed), "--updates", str(settings.updates)]
    for name, value in further.items():
        words += ["--set", f"{name}={value}"]
    from studies.papers.training import imitated_path, train_marl, write_marl_training

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
