"""Instances of the demo: small, heterogeneous, unlike each other, and each proved to optimality within seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from instances.bundled_instance import bundled_instance
from instances.cluster import parse_cluster
from instances.dag_from_graph import CostModel
from instances.generators.generate import generate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.dag_instance import DagInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoInstance:
    """What to generate: family, wished number of tasks, preset, costs and parameters of the family."""

    family: str
    tasks: int
    cluster: str
    cost: CostModel = field(default_factory=CostModel)
    parameters: Mapping[str, Any] = field(default_factory=dict)


DEMO_INSTANCES = (
    DemoInstance(family="layered", tasks=14, cluster="mixed-3"),
    DemoInstance(family="erdos-renyi", tasks=12, cluster="mixed-4", cost=CostModel(ccr=0.5)),
    DemoInstance(family="fft", tasks=15, cluster="mixed-4-slow", cost=CostModel(ccr=1.0)),
    DemoInstance(family="cholesky", tasks=20, cluster="mixed-3", cost=CostModel(ccr=0.2)),
    DemoInstance(family="gaussian-elimination", tasks=14, cluster="mixed-4", cost=CostModel(ccr=0.2)),
    DemoInstance(
        family="pipeline-training",
        tasks=16,
        cluster="mixed-3",
        cost=CostModel(memory_tightness=0.9),
        parameters={"stages": 2},
    ),
    DemoInstance(family="nasnet", tasks=18, cluster="mixed-3", cost=CostModel(ccr=0.3)),
    DemoInstance(family="transformer", tasks=11, cluster="mixed-4", cost=CostModel(forbidden=0.2)),
    DemoInstance(family="stencil", tasks=16, cluster="mixed-3", cost=CostModel(ccr=0.5)),
    DemoInstance(
        family="multi-tenant",
        tasks=16,
        cluster="mixed-3",
        cost=CostModel(memory_tightness=0.8),
        parameters={"jobs": 3},
    ),
)
"""8 to 20 tasks on 3 or 4 unlike GPUs; two with tight memory, one with several jobs, one with barred GPUs."""

DEMO_BUNDLED = "inception-block"
"""Name of the bundled instance, a modelled profile in PipeDream's format."""


def demo_instances(seed: int) -> list[DagInstance]:
    """Make the instances.

    Parameters
    ----------
    seed
        Of all generated instances; the bundled one is always the same.
    """
    generated = [
        generate(
            item.family,
            tasks=item.tasks,
            seed=seed,
            cluster=parse_cluster(item.cluster),
            cost=item.cost,
            **item.parameters,
        )
        for item in DEMO_INSTANCES
    ]
    return [*generated, bundled_instance(DEMO_BUNDLED)]
