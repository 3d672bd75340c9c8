"""Tests of generated instances with interference and racks, and of measured pairs."""

from __future__ import annotations

import gzip
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.co_located import share_gpus
from instances.generators.jobs.generate import INTERFERING_FAMILIES, JOBS_FAMILIES, generate_jobs, load_factor
from instances.jobs.interference import NOT_TOGETHER
from instances.jobs.json import jobs_instance_from_json, jobs_instance_to_json
from instances.jobs.objective import JobsObjective
from instances.readers.jobs.gavel_pairs import COLUMNS, read_gavel_pairs
from solvers.lower_bound import lower_bound
from solvers.solve import solve
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("family", INTERFERING_FAMILIES)
def test_same_arguments_same_bytes(family: str) -> None:
    """Tests that seed and size decide everything, and that files keep it."""
    one, two, other = (generate_jobs(family, jobs=12, seed=seed) for seed in (3, 3, 4))
    assert one.sha256 == two.sha256 != other.sha256
    assert jobs_instance_from_json(jobs_instance_to_json(one)).sha256 == one.sha256
    assert one.interference is not None
    assert (one.interference.use[:, :2] > 0).all()
    assert family not in JOBS_FAMILIES


@pytest.mark.parametrize("load", [0.5, 0.9])
def test_load_is_met(load: float) -> None:
    """Tests that another load moves arrivals alone, as without interference."""
    instance, once = (generate_jobs("jobs-co-located", jobs=25, seed=1, load=each) for each in (load, 0.0))
    assert load_factor(instance) == pytest.approx(load, rel=1e-5)
    assert instance.interference is not None
    assert once.interference is not None
    assert (instance.interference.use == once.interference.use).all()
    plain = generate_jobs("jobs-poisson", jobs=25, seed=1, load=load)
    assert (plain.iterations == instance.iterations).all()
    assert (plain.release == instance.release).all()


def test_racks_and_sharing() -> None:
    """Tests uplinks of a quarter of their network interfaces, and two jobs per GPU where classes fit together."""
    cluster = parse_cluster("8xV100-16GB,8xV100-16GB,8xT4")
    racked = generate_jobs("jobs-co-located", jobs=20, seed=2, cluster=cluster)
    assert racked.racks is not None
    assert racked.racks.rack_of_server.tolist() == [0, 0, 1]
    nics = [racked.nic_bytes_per_tick(server) for server in range(3)]
    uplinks = [racked.racks.uplink_bytes_per_tick(rack) for rack in range(2)]
    assert uplinks == [(nics[0] + nics[1]) / 4, Fraction(nics[2]) / 4]
    shared = generate_jobs("jobs-shared-gpus", jobs=20, seed=2, cluster=cluster)
    assert (shared.share, shared.racks) == (2, None)
    assert shared.interference is not None
    assert set(shared.interference.classes) == set(map(str, shared.model_tag))
    speeds = shared.interference.pair
    assert ((speeds >= 50) | (speeds == NOT_TOGETHER)).all()
    silent = generate_jobs("jobs-co-located", jobs=5, seed=2, strength=0.0, servers_per_rack=0)
    assert silent.racks is None
    assert silent.interference is not None
    assert silent.interference.use.max() == 0


def test_jobs_do_slow_each_other() -> None:
    """Tests that at load 0.9 FIFO loses time to interference, and that every figure of the result says so alike."""
    for family in ("jobs-co-located", "jobs-shared-gpus"):
        instance = generate_jobs(family, jobs=60, seed=1, load=0.9)
        result = solve(instance, method="fifo", bounds=lower_bound(instance, methods=["sets-of-kinds"]))
        assert result.statistics is not None
        slowed = result.statistics.interference
        assert slowed is not None
        assert slowed.lost_mean > 0
        assert slowed.speed_p05 < slowed.speed_mean < 1
        assert 0 < result.statistics.utilisation <= 1
        assert result.lower_bound is not None
        assert result.objective is not None
        assert result.lower_bound <= result.objective


@pytest.mark.parametrize("share", [1, 2])
def test_small_instances_are_proved(share: int) -> None:
    """Tests that the small family is within reach of the complete search."""
    instance = generate_jobs("jobs-small-co-located", jobs=4, seed=share, load=1.0, share=share)
    result = solve(instance, method="co-location-search", objective=JobsObjective.WEIGHTED_COMPLETION, time_limit=60)
    assert str(result.status) == "optimal"


def _table(path: Path, rows: list[str]) -> Path:
    """Write a table of pairs."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join([",".join(COLUMNS), *rows]) + "\n")
    return path


ROWS = ["v100,consolidated,A,A,1,3,3,4,4", "v100,consolidated,A,B,1,1,9,4,8", "v100,consolidated,B,A,1,9,1,8,4"]


def test_read_pairs(tmp_path: Path) -> None:
    """Tests rates over isolated rates, the cut at 1000, pairs that do not fit, and rows that are left out."""
    rows = [
        *ROWS,
        "v100,consolidated,B,B,1,0,0,8,8",
        "k80,consolidated,A,C,1,1,1,1,1",
        "v100,consolidated,A,B,2,0,0,1,1",
    ]
    table = read_gavel_pairs(_table(tmp_path / "t.csv.gz", rows))
    assert table.classes == ("A", "B")
    assert table.pair.tolist() == [[750, 250], [1000, NOT_TOGETHER]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS, "rows of v100: expected every pair, got none of B and B"),
        ([], "gpu_type: expected one of the table, got 'v100'"),
        (["v100,consolidated,A,A,1,x,3,4,4"], r"line 2: expected four rates, got \['x', '3', '4', '4'\]"),
    ],
)
def test_broken_tables(tmp_path: Path, rows: list[str], message: str) -> None:
    """Tests that a broken table gives one message that names the place."""
    with pytest.raises(ValueError, match=message):
        read_gavel_pairs(_table(tmp_path / "t.csv.gz", rows))


def test_another_table(tmp_path: Path) -> None:
    """Tests that a file with other columns is refused."""
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(ValueError, match=r"line 1: expected gpu_type,.*, got a,b\."):
        read_gavel_pairs(path)


@pytest.mark.parametrize(("gpu_type", "not_allowed"), [("k80", 87), ("p100", 20), ("v100", 40)])
def test_measured_pairs(gpu_type: str, not_allowed: int) -> None:
    """Tests the public table: 26 classes, and as many ordered pairs that do not fit as its description counts."""
    table = read_gavel_pairs(real_data("gavel/colocated.csv.gz"), gpu_type)
    assert len(table.classes) == 26
    assert int((table.pair == NOT_TOGETHER).sum()) == not_allowed
    instance = share_gpus(generate_jobs("jobs-poisson", jobs=30, seed=1, load=0.9), table, seed=2)
    assert instance.share == 2
    assert instance.sha256 == share_gpus(instance, table, seed=2).sha256
    result = solve(instance, method="wcs-duration", bounds=lower_bound(instance, methods=["sets-of-kinds"]))
    assert result.lower_bound is not None
    assert result.objective is not None
    assert result.lower_bound <= result.objective
