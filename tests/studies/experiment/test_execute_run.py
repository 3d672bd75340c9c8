from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from heuristics.dag.worl_rtgs.network import save_weights, shipped_weights, weights_sha256
from studies.experiment.execute_run import execute_run
from studies.experiment.instances import expand_instances
from studies.experiment.plan import study_plan
from studies.experiment.run_study import RunOrders
from studies.experiment.store import StudyStore
from tests.studies.experiment.study_specs import small_spec

if TYPE_CHECKING:
    from pathlib import Path

WOA = '"woa"\nparameters = { population = 5, heft_seed = false }'


@pytest.mark.parametrize("is_given", [True, False])
def test_weights_must_be_those_of_the_plan(tmp_path: Path, is_given: bool) -> None:
    """Tests that a run with weights that were changed since the plan was made fails, and one with those does not."""
    path = tmp_path / "mine.npz"
    weights = shipped_weights()
    save_weights(path, weights)
    spec = small_spec((WOA, f'"ddqn"\nparameters = {{ weights = "{path}" }}' if is_given else '"ddqn"'))
    with StudyStore(tmp_path / "out", create=True) as store:
        store.write_plan(study_plan(spec, expand_instances(spec)))
        (row, *_) = store.select("SELECT * FROM runs WHERE method = 'ddqn'")
        order = RunOrders(store, "makespan").order(dict(row))
        instance = store.instance(order.sha256)
    assert order.weights_sha256 == weights_sha256(weights)
    answer = execute_run(order, instance)
    assert (answer.error, answer.objective is None) == (None, False)
    save_weights(path, type(weights)(*(2 * array for array in weights)))
    error = execute_run(order, instance).error
    if is_given:
        assert error is not None
        assert error.startswith(
            f"ValueError: parameters.weights: expected the planned content {order.weights_sha256[:16]}"
        )
    else:
        assert error is None
