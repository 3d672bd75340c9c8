"""Trainings of a few steps; here stand the imports from the product that only they need, as JAX takes a while."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np

from heuristics.dag.worl_rtgs.network import weights_sha256
from heuristics.dag.worl_rtgs.train import DdqnTrainer
from heuristics.dag.worl_rtgs.training_config import TrainingConfig
from heuristics.dag.worl_rtgs.training_instances import validation_instances
from heuristics.jobs.actor_critic.settings import REPAIRED
from heuristics.jobs.actor_critic.train import actor_critic
from heuristics.jobs.interference_predictor.features import FeatureSpace
from heuristics.jobs.interference_predictor.fit import fit_predictor
from heuristics.jobs.interference_predictor.samples import random_co_locations
from heuristics.jobs.marl.gossip.settings import GossipSettings
from heuristics.jobs.marl.gossip.train import GossipTrainer
from heuristics.jobs.marl.training.instances import validation_set
from heuristics.jobs.marl.training.settings import TrainingSettings
from heuristics.jobs.marl.training.train import MarlTrainer
from instances.generators.jobs.generate import generate_jobs
from studies.papers.simple_spread import SimpleSpread
from tests.record.digest import digest

SEED = 3


def trainings() -> dict[str, str]:
    """Return hashes of what trainings of some seconds learn from a seed."""
    return {
        "ddqn": _ddqn(),
        "marl": _marl("flat"),
        "gossip": _gossip(),
        "interference predictor": _predictor(),
        "actor-critic": _actor_critic(),
    }


def _ddqn() -> str:
    """Train the network of WORL-RTGS for a few steps."""
    config = TrainingConfig(steps=1_500, warm_up=300, validate_every=500, target_every=100, replay=2_000)
    trainer = DdqnTrainer(config, seed=SEED).fit(validation_instances()[::10])
    curve = [(point.steps, point.validation_ratio, point.loss) for point in trainer.curve_]
    return f"{weights_sha256(trainer.weights_)[:16]} {digest(curve)}"


def _marl(variant: str) -> str:
    """Train the multi-agent policy with few jobs."""
    settings = TrainingSettings(
        jobs=16, num_agents=2, variant=variant, speeds="true", updates=2, episodes=2, same_instance=2,
        imitation_episodes=2, imitation_epochs=2, validation_instances=2, validate_every=1, chunk=64,
    )  # fmt: skip
    trainer = MarlTrainer(settings, seed=SEED).fit(validation_set(settings))
    return f"{trainer.network_.sha256[:16]} {digest([trainer.best_, trainer.teacher_])}"


def _gossip() -> str:
    """Train a network for each agent with gossip."""
    settings = GossipSettings(
        jobs=16, num_agents=4, variant="flat", speeds="true", updates=2, imitation_episodes=1, imitation_epochs=2,
        validation_instances=2, validate_every=1, chunk=64, actor_chunk=4, learning_rate=0.01, critic_steps=6,
        actor_steps=8, width=8, depth=2,
    )  # fmt: skip
    trainer = GossipTrainer(settings, seed=SEED).fit(validation_set(settings))
    return f"{trainer.network_.sha256[:16]} {digest([trainer.best_, trainer.teacher_])}"


def _predictor() -> str:
    """Fit the predictors of interference to a small sample."""
    instance = generate_jobs("jobs-small-co-located", jobs=60, seed=SEED, share=1, classes=5, strength=2.0, max_gang=3)
    sample = random_co_locations(FeatureSpace.of([instance]), [instance], np.random.default_rng(0), count=300)
    fitted = fit_predictor(sample, np.random.default_rng(0), epochs=30, blocks=2)
    predictions = {name: model.predict(sample.features) for name, model in fitted.models.items()}
    return f"{fitted.chosen} {digest([predictions, fitted.losses, dict(fitted.errors), fitted.held_out])}"


def _actor_critic() -> str:
    """Train actors and critics of two agents on a small world."""
    world = SimpleSpread(landmarks=((1, 0), (7, 2)), width=9, height=3)
    settings = replace(REPAIRED, iterations=20, width=10, depth=2, beta=0.02, alpha=0.1)
    runs = actor_critic(world, settings, np.array([[0.7, 0.3], [0.3, 0.7]]), seeds=(0, 1))
    return digest([np.asarray(leaf) for leaf in jax.tree.leaves(runs.actors)] + [np.asarray(runs.curves.team_reward)])
