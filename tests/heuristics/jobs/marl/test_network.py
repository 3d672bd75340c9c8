"""Tests the forward pass: the same in NumPy and JAX, masked, equivariant, with the right gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from heuristics.jax_options import COMPILER_OPTIONS
from heuristics.jobs.marl.network import Parameters, Variant, embed, initial_parameters, probabilities, scores, value
from heuristics.jobs.marl.observation import Observation, ObservationSize
from heuristics.jobs.marl.partitions import Partitions
from tests.heuristics.jobs.marl.seen import stream, watched_run

AGENTS = 4

FAST_TO_COMPILE = COMPILER_OPTIONS | {"xla_backend_optimization_level": 0}  # half the time of this test


@pytest.fixture(scope="module")
def size() -> ObservationSize:
    """Return sizes with room to spare."""
    least = ObservationSize.of(Partitions(stream("jobs-co-located"), AGENTS))
    return ObservationSize(
        kinds=least.kinds,
        num_agents=AGENTS,
        num_servers=least.num_servers + 2,
        num_gpus=least.num_gpus + 1,
        num_racks=least.num_racks + 1,
    )


@pytest.fixture(scope="module")
def observations(size: ObservationSize) -> list[Observation]:
    """Return what four agents saw on racks with interference, padded."""
    _, seen = watched_run(stream("jobs-co-located"), AGENTS, Variant.FLAT, size=size)
    assert len({decision.agent for decision, _, _ in seen}) == AGENTS
    return [each for _, each, _ in seen][:24]


def both(xp: Any, parameters: Parameters, seen: Observation, variant: Variant) -> tuple[Any, Any]:
    """Return scores and value."""
    embedding = embed(xp, parameters, seen, variant)
    return scores(xp, parameters, seen, embedding), value(xp, parameters, seen, embedding)


@pytest.mark.whole
@pytest.mark.parametrize("variant", [pytest.param(Variant.FLAT, marks=pytest.mark.slow), Variant.INNER_OUTER])
def test_jax_agrees_with_numpy(variant: Variant, size: ObservationSize, observations: list[Observation]) -> None:
    """Tests scores, probabilities and values; masked slots have probability exactly 0 in both.

    The gradient of ln of the probability of a slot, plus the value, is held against finite differences of NumPy's pass
    in double precision: masked slots leave no trace of infinity.
    """
    parameters = initial_parameters(np.random.default_rng(1), size, variant)

    def all_three(xp: Any, weights: Parameters, seen: Observation, slot: int) -> tuple[Any, tuple[Any, Any, Any]]:
        """Return what is differentiated and what is compared."""
        masked, worth = both(xp, weights, seen, variant)
        chances = probabilities(xp, masked)
        return xp.log(chances[slot]) + worth, (masked, chances, worth)

    compiled = jax.jit(
        jax.value_and_grad(lambda weights, seen, slot: all_three(jnp, weights, seen, slot), has_aux=True),
        compiler_options=FAST_TO_COMPILE,
    )
    for seen in observations:
        slot = int(np.flatnonzero(seen.mask)[-1])
        (_, found), gradient = compiled(parameters, seen, slot)
        _, (masked, chances, worth) = all_three(np, parameters, seen, slot)
        assert masked.dtype == np.float32
        assert np.asarray(found[0]) == pytest.approx(masked, rel=1e-4, abs=1e-5)
        assert float(found[2]) == pytest.approx(float(worth), rel=1e-4, abs=1e-5)
        for each in (np.asarray(found[1]), chances):
            assert (each[~seen.mask] == 0).all()
            assert (each[seen.mask] > 0).all()
            assert each.sum() == pytest.approx(1)
        assert all(np.isfinite(each).all() for each in gradient.values())
    exact = {name: array.astype(np.float64) for name, array in parameters.items()}
    wide = Observation(*(array if array.dtype == bool else array.astype(np.float64) for array in seen))
    rng, step = np.random.default_rng(6), 1e-6
    for name, array in exact.items():
        direction = rng.standard_normal(array.shape)
        up, down = (all_three(np, exact | {name: array + sign * step * direction}, wide, slot)[0] for sign in (1, -1))
        expected = (np.asarray(gradient[name], dtype=np.float64) * direction).sum()
        assert (up - down) / (2 * step) == pytest.approx(expected, rel=2e-3, abs=2e-4), name


@pytest.mark.parametrize("variant", list(Variant))
def test_order_of_servers_and_padding_do_not_matter(
    variant: Variant, size: ObservationSize, observations: list[Observation]
) -> None:
    """Tests that renamed servers, racks and GPUs of a switch change no score and no value, and padding neither."""
    rng = np.random.default_rng(3)
    parameters = initial_parameters(rng, size, variant)
    for seen in observations[:8]:
        servers, racks = rng.permutation(size.num_servers), rng.permutation(size.num_racks)
        gpus = np.concatenate([rng.permutation(4), np.arange(4, size.num_gpus)])
        renamed = seen._replace(
            gpus=seen.gpus[servers][:, gpus],
            has_gpu=seen.has_gpu[servers][:, gpus],
            on_switch=seen.on_switch[servers][..., gpus],
            servers=seen.servers[servers],
            has_server=seen.has_server[servers],
            has_socket=seen.has_socket[servers],
            in_rack=seen.in_rack[servers][:, racks],
            group_servers=seen.group_servers[:, servers],
        )
        count = int(seen.has_server.sum())
        cut = seen._replace(
            gpus=seen.gpus[:count],
            has_gpu=seen.has_gpu[:count],
            on_switch=seen.on_switch[:count],
            servers=seen.servers[:count],
            has_server=seen.has_server[:count],
            has_socket=seen.has_socket[:count],
            in_rack=seen.in_rack[:count],
            group_servers=seen.group_servers[:, :count],
        )
        expected = both(np, parameters, seen, variant)
        for same in (renamed, cut):
            for one, other in zip(both(np, parameters, same, variant), expected, strict=True):
                assert one == pytest.approx(other, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("variant", list(Variant))
def test_what_each_variant_sees(variant: Variant, size: ObservationSize, observations: list[Observation]) -> None:
    """Tests that all see loads of sockets, only graphs inside servers see switches, only that of racks sees racks."""
    parameters = initial_parameters(np.random.default_rng(4), size, variant)
    seen = next(each for each in observations if np.ptp(each.servers[:2, 3]) > 0 and each.mask[8:].all())

    def differs(other: Observation) -> bool:
        """Say whether some score differs by more than rounding."""
        before, after = (both(np, parameters, each, variant)[0][seen.mask] for each in (seen, other))
        return bool(np.abs(before - after).max() > 1e-5)

    loaded = seen.servers.copy()
    loaded[:, 3] += seen.has_server  # cpu: on sockets only
    assert differs(seen._replace(servers=loaded))
    racks = np.zeros_like(seen.in_rack)
    racks[:2] = np.eye(2)  # both servers were in one
    assert int(seen.has_server.sum()) == 2 == int(seen.in_rack[:, 0].sum())
    assert differs(seen._replace(in_rack=racks)) == (variant is Variant.INNER_OUTER)
    moved = seen.on_switch.copy()
    moved[:, :, 0] = moved[:, ::-1, 0]  # the first GPU is on the other switch
    assert seen.has_socket[:2].all()
    assert differs(seen._replace(on_switch=moved)) == (variant is not Variant.FLAT)
    others = seen.summaries.copy()
    others[1:] += 1
    assert differs(seen._replace(summaries=others))
    own = seen.summaries.copy()
    own[0] += 1
    assert differs(seen._replace(summaries=own))
    for agent in range(AGENTS):
        offers = seen.offers.copy()
        offers[agent] += 1
        assert differs(seen._replace(offers=offers))


def test_sizes_of_the_networks(size: ObservationSize) -> None:
    """Tests the widths: 68-64-1, 64-64-1 twice with what they see beyond the reference, and 64 for the critic."""
    drawn = initial_parameters(np.random.default_rng(0), size)
    assert drawn["group.hidden.weight"].shape == (68, 64)
    assert drawn["forward.hidden.weight"].shape == (64 + 1, 64)
    assert drawn["wait.hidden.weight"].shape == (64 + 1 + 12, 64)
    assert drawn["critic.hidden.weight"].shape == (32 + 12 * AGENTS, 64)
    assert drawn["server.weight"].shape == (64, 32)
    assert drawn["input.gpu.weight"].shape == (len(size.kinds) + 10, 32)
    assert drawn["input.job.weight"].shape == (15, 32)
    assert sum(name.startswith("inner") for name in drawn) == 2 * (2 + 4)
    assert sum(name.startswith("outer") for name in drawn) == 2 * (2 + 3)
    again = initial_parameters(np.random.default_rng(0), size)
    assert all((again[name] == array).all() and array.dtype == np.float32 for name, array in drawn.items())
    with pytest.raises(ValueError, match="variant: expected one of flat, inner, inner-outer, got 'outer'"):
        initial_parameters(np.random.default_rng(0), size, "outer")  # type: ignore[arg-type]
