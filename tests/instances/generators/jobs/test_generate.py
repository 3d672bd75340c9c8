"""Tests of jobs instances from named families."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import JOBS_FAMILIES, generate_jobs, load_factor
from instances.generators.jobs.network_models import NETWORK_MODELS
from instances.jobs.iteration_time import least_durations

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


@pytest.mark.parametrize("family", JOBS_FAMILIES)
def test_same_arguments_same_bytes(family: str) -> None:
    """Tests that seed and size decide everything, and that another seed gives other jobs."""
    one, two, other = (generate_jobs(family, jobs=12, seed=seed) for seed in (3, 3, 4))
    assert one.sha256 == two.sha256 != other.sha256
    assert one.num_jobs == 12
    assert (np.diff(one.release) >= 0).all()
    assert one.release[0] == 0


@pytest.mark.parametrize("family", [name for name in JOBS_FAMILIES if name != "jobs-small"])
@pytest.mark.parametrize("load", [0.5, 0.9, 1.1])
def test_load_is_met(family: str, load: float) -> None:
    """Tests that work over capacity until the last arrival is what was asked for, and moves nothing but arrivals."""
    instance, once = generate_jobs(family, jobs=25, seed=1, load=load), generate_jobs(family, jobs=25, seed=1, load=0.0)
    work = int(instance.gang_size @ least_durations(instance))
    assert work / (instance.num_gpus * int(instance.release.max())) == pytest.approx(load, rel=1e-5)
    assert load_factor(instance) == pytest.approx(load, rel=1e-5)
    assert load_factor(once) is None
    assert once.release.tolist() == [0] * 25
    for name in ("iterations", "time_of", "replicas", "micro_batches", "activation_bytes"):
        assert (getattr(instance, name) == getattr(once, name)).all()


def test_small_jobs_are_small() -> None:
    """Tests that the family for exact methods keeps to its largest values and has all its variety."""
    made = [
        generate_jobs("jobs-small", jobs=5, seed=seed, load=1.0, max_gang=3, max_time=4, max_iterations=3)
        for seed in range(40)
    ]
    assert all(instance.gang_size.max() <= 3 for instance in made)
    assert all(instance.time_of.max() <= 4 and instance.iterations.max() <= 3 for instance in made)
    assert any((instance.time_of < 0).any() for instance in made)
    assert any((instance.activation_bytes > 0).any() for instance in made)
    assert any((np.diff(instance.stage_offsets) > 1).any() for instance in made)
    assert any((instance.weight > 1).any() for instance in made)
    without = generate_jobs("jobs-small", jobs=30, seed=1, traffic=0.0, forbidden=0.0)
    assert (without.parameter_bytes.max(), without.time_of.min()) == (0, 1)


def test_recurrence() -> None:
    """Tests that runs of a group are alike but for their iterations, and that frequent users are frequent."""
    instance = generate_jobs("jobs-recurrent", jobs=600, seed=5, users=6, groups_per_user=3, zipf=1.0)
    assert set(instance.user) == {f"u{number}" for number in range(6)}
    counts = [instance.user.count(f"u{number}") for number in range(6)]
    assert counts[0] > 2 * counts[5]
    shapes: dict[str, set[tuple[object, ...]]] = {}
    for job, group in enumerate(instance.group):
        assert group is not None and group.startswith(f"{instance.user[job]}-g")
        rows = instance.stages_of(job)
        shape = (instance.model_tag[job], instance.micro_batches[job], instance.time_of[rows].tobytes())
        shapes.setdefault(group, set()).add(shape)
    assert all(len(found) == 1 for found in shapes.values())
    logs = np.log(instance.iterations)
    largest = max(set(instance.group), key=instance.group.count)
    of_group = np.array([group == largest for group in instance.group])
    assert logs[of_group].std() < 0.5 < logs.std()


def test_run_spread_zero_repeats_exactly() -> None:
    """Tests that without spread among runs every run of a group has the same iterations."""
    instance = generate_jobs("jobs-recurrent", jobs=60, seed=5, users=2, groups_per_user=2, run_spread=0.0)
    pairs = set(zip(instance.group, instance.iterations.tolist(), strict=True))
    assert len(pairs) == len(set(instance.group))


def _variation(instance: JobsInstance) -> float:
    """Return the coefficient of variation of gaps between arrivals."""
    gaps = np.diff(instance.release).astype(float)
    return float(gaps.std() / gaps.mean())


def test_bursts() -> None:
    """Tests that gaps of a Poisson process vary by their mean, and those of bursts by much more."""
    arguments = {"jobs": 800, "seed": 2, "models": ("AlexNet",), "max_gang": 1}
    assert _variation(generate_jobs("jobs-poisson", **arguments)) == pytest.approx(1.0, abs=0.15)
    assert _variation(generate_jobs("jobs-bursty", **arguments, burst_speed=50.0)) > 1.3


@pytest.mark.parametrize("tail", ["lognormal", "pareto"])
def test_heavy_tails(tail: str) -> None:
    """Tests that run times have the median that was asked for and a few jobs hold much of the work."""
    instance = generate_jobs(
        "jobs-poisson", jobs=800, seed=3, models=("AlexNet",), max_gang=1, median_seconds=100.0, spread=1.5, tail=tail
    )
    seconds = np.sort(least_durations(instance) * instance.tick_seconds)
    assert np.median(seconds) == pytest.approx(100.0, rel=0.2)
    assert seconds[-80:].sum() > 0.4 * seconds.sum()


def test_models_are_drawn_from_the_choice() -> None:
    """Tests that model tags are those asked for, all of them by default."""
    chosen = generate_jobs("jobs-poisson", jobs=30, seed=1, models=("VGG-16", "BERT-Base"))
    assert set(chosen.model_tag) == {"VGG-16", "BERT-Base"}
    assert set(generate_jobs("jobs-poisson", jobs=80, seed=1).model_tag) == set(NETWORK_MODELS)


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        (
            "jobs-poison",
            {},
            r"family: expected one of .*jobs-poisson.*, got 'jobs-poison' \(did you mean jobs-poisson\?\)\.",
        ),
        ("jobs-poisson", {"users": 3}, r"parameters: expected a parameter of jobs-poisson \(.*\), got 'users'\."),
        ("jobs-poisson", {"jobs": 0}, r"jobs: expected at least 1, got 0\."),
        ("jobs-poisson", {"load": -1.0}, r"load: expected a number in 0\.\.1e\+06, got -1\.0\."),
        ("jobs-poisson", {"models": ("LeNet",)}, r"models: expected one of AlexNet, .*, got 'LeNet'\."),
        ("jobs-poisson", {"models": ()}, r"models: expected at least one network, got none\."),
        ("jobs-poisson", {"tail": "fat"}, r"tail: expected lognormal or pareto, got 'fat'\."),
        ("jobs-bursty", {"burst_size": 0.5}, r"burst_size: expected at least 1, got 0\.5\."),
        ("jobs-recurrent", {"users": 0}, r"users: expected at least 1, got 0\."),
        ("jobs-recurrent", {"arrivals": "now"}, r"arrivals: expected poisson or bursty, got 'now'\."),
        ("jobs-small", {"max_time": 0}, r"max_time: expected an integer in 1\.\.1000000, got 0\."),
        (
            "jobs-small",
            {"cluster": parse_cluster("mixed-3")},
            r"cluster: expected one kind of GPU per server, got V100",
        ),
        (
            "jobs-poisson",
            {"cluster": parse_cluster("2xT4"), "models": ("GPT-3-6.7B",)},
            r"models: expected a network that fits on 2 GPUs of the cluster, got GPT-3-6\.7B\.",
        ),
    ],
)
def test_bad_requests(family: str, options: dict[str, object], message: str) -> None:
    """Tests that what cannot be made is refused with the reason."""
    with pytest.raises(ValueError, match=message):
        generate_jobs(family, **{"jobs": 5, "seed": 1, **options})  # type: ignore[arg-type]
