"""Command `train`: the learned parts, from a seed."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, options, reading, shortened, writing
from studies.command_line.option_types import integer, number
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs, check_suffix
from studies.commands import options as opt

LEARNERS = ("worl-rtgs", "marl", "marl-gossip")
"""What can be trained."""

FINE_TUNING = {"steps": 40_000, "learning_rate": 1e-4, "epsilon_start": 0.1, "warm_up": 500, "validate_every": 2_000}
"""Recipe of fine-tuning where it differs from training from nothing; ours."""

MAX_STEPS = 1_000_000_000
"""Most steps that may be asked for; more is a slip of the finger."""


def train(
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
        raise BadInputError(f"METHOD: expected {', '.join(LEARNERS[:-1])} or {LEARNERS[-1]}, got {shortened(learner)}.")
    of_others = {"--steps": steps, "--gamma": gamma, "--fine-tune": fine_tune, "--spread": spread, "--weights": weights}
    if learner == "worl-rtgs":
        of_others = {"--updates": updates}
    for option, value in of_others.items():
        if value is not None:
            raise BadInputError(f"{option}: expected none with {learner}, got {shortened(value)}.")
    if spread is not None and fine_tune is None:
        raise BadInputError(f"--spread: expected none without --fine-tune, got {spread:g}.")
    check_suffix(out, (".npz",))
    beside = out.with_suffix(".json")
    check_outputs([fine_tune, weights], [out, beside])
    if learner != "worl-rtgs":
        from studies.command_line.train_marl_command import train_marl_command

        train_marl_command(out, learner=learner, seed=seed, updates=updates, set_=set_ or [], as_json=as_json)
        return
    from heuristics.dag.worl_rtgs.network import load_weights
    from heuristics.dag.worl_rtgs.shipped_weights import shipped_weights
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from instances.dag_json import read_dag_instance
    from studies.command_line.run_progress import RunProgress
    from studies.command_line.set_parameters import set_parameters

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
    from studies.train_worl_rtgs import train_worl_rtgs, write_training

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
