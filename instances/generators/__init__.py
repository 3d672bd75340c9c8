"""Named families of workloads, and instances whose optimum is known because it was planted."""

from instances.generators.families import FAMILIES as FAMILIES
from instances.generators.families import Family as Family
from instances.generators.generate import generate as generate
from instances.generators.planted import PlantedOptimum as PlantedOptimum
from instances.generators.planted import planted_optimum as planted_optimum
