"""The members of populations as DEAP knows them: arrays of random keys with a fitness."""

from __future__ import annotations

import numpy as np
from deap import base, creator

# Fitness is (overflow bytes, objective), both minimised, the first counts more; integer weights keep large objectives
# exact. DEAP makes classes once per process.
creator.create("KeysFitness", base.Fitness, weights=(-1, -1))
creator.create("Whale", np.ndarray, fitness=creator.KeysFitness)
creator.create("Chromosome", np.ndarray, fitness=creator.KeysFitness)
creator.create("Particle", np.ndarray, fitness=creator.KeysFitness, speed=None, best=None)

Whale, Chromosome, Particle = creator.Whale, creator.Chromosome, creator.Particle
