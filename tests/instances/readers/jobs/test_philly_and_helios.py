"""Tests of the readers of the Philly and Helios cuts and of the Alibaba node lists."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from instances.clusters.cluster import parse_cluster
from instances.generators.jobs.generate import load_factor
from instances.jobs.iteration_time import least_durations
from instances.readers.jobs.alibaba_nodes import read_alibaba_nodes
from instances.readers.jobs.philly_and_helios import parse_gpu_trace, read_philly
from instances.readers.jobs.read import JOBS_READERS, read_jobs
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

    from instances.jobs.instance import JobsInstance


HEAD = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status"
TRACE = f"""{HEAD}
7,1,1,0,1,0,600,0,Pass
8,2,0,4,1,100,50,0,Pass
9,1,2,0,1,30,700,0,Failed
10,1,1,0,1,0,3000,0,Killed
11,3,12,0,2,5,400,0,Pass
"""
NODES = """sn,cpu_milli,memory_mib,gpu,model
a,64000,262144,2,P100
b,32000,262144,0,
c,64000,262144,8,G2
d,64000,262144,4,V100M32
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Five jobs, one without GPUs."""
    path = tmp_path / "cut.csv"
    path.write_text(TRACE)
    return path


def _read(path: Path, **options: Any) -> JobsInstance:
    """Read a cut as Philly, from its first row."""
    return read_philly(path, **{"skip_rows": 0, **options})


def test_rows() -> None:
    """Tests that arrivals are the running sum of intervals over all rows, jobs without GPUs too."""
    jobs = parse_gpu_trace(TRACE)
    assert [job.arrival_seconds for job in jobs] == [0, 100, 130, 130, 135]
    assert [(job.number, job.user, job.gpus, job.run_seconds, job.status) for job in jobs][2] == (
        9,
        1,
        2,
        700,
        "Failed",
    )


def test_what_is_recorded_stays(trace: Path) -> None:
    """Tests that arrivals, users, GPUs and run times are the trace's, the last to half an iteration."""
    instance = _read(trace, tick_seconds=0.01)
    assert instance.job_names == ("7", "9", "10", "11")
    assert instance.release.tolist() == [0, 13_000, 13_000, 13_500]
    assert instance.gang_size.tolist() == [1, 2, 1, 12]
    assert instance.user == ("u1", "u1", "u1", "u3")
    assert instance.group == ("u1-g1", "u1-g2", "u1-g1", "u3-g12")
    seconds = least_durations(instance) * 0.01
    of_iteration = seconds / instance.iterations
    assert (np.abs(seconds - [600, 700, 3000, 400]) <= of_iteration / 2 + 1e-9).all()
    assert instance.weight.tolist() == [1, 1, 1, 1]


def test_groups_do_not_depend_on_filters(trace: Path) -> None:
    """Tests that runs of one group train one network, whatever else is read; another seed may draw another."""
    everything, narrow = _read(trace), _read(trace, max_gpus=1)
    assert narrow.job_names == ("7", "10")
    assert narrow.model_tag == (everything.model_tag[0], everything.model_tag[2])
    assert narrow.iterations.tolist() == everything.iterations[[0, 2]].tolist()
    tags = {_read(trace, seed=seed).model_tag for seed in range(8)}
    assert len(tags) > 1
    assert all(tag[0] == tag[2] for tag in tags)


def test_filters(trace: Path) -> None:
    """Tests that rows, numbers, statuses and load are chosen, and the first job arrives at 0."""
    assert _read(trace, skip_rows=1).job_names == ("9", "10", "11")
    assert _read(trace, skip_rows=1).release[0] == 0
    assert _read(trace, count=2).job_names == ("7", "9")
    assert _read(trace, statuses=("Failed", "Killed")).job_names == ("9", "10")
    loaded = _read(trace, load=0.8)
    assert load_factor(loaded) == pytest.approx(0.8, rel=1e-4)
    assert loaded.release[1] == loaded.release[2] < loaded.release[3]
    assert _read(trace, cluster=parse_cluster("8xA100-40GB,8xA100-40GB")).kinds == ("A100-40GB",)


def test_compressed(trace: Path, tmp_path: Path) -> None:
    """Tests that a compressed cut is read too, by name of the format; the name is that of the file."""
    packed = tmp_path / "cut.csv.gz"
    packed.write_bytes(gzip.compress(TRACE.encode()))
    assert read_jobs("helios", packed).sha256 == _read(trace).sha256
    assert read_jobs("helios", packed).name == "cut"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (HEAD, "a,b", r"line 1: expected the columns u_id,user,.*, got a,b\."),
        ("7,1,1,0,1,0,600,0,Pass", "7,1,1,0,1,0,600,0", r"line 2: expected 9 columns, got 8\."),
        ("9,1,2,0,1,30,", "9,1,2,0,1,-30,", r"line 4: expected interval as an integer of at least 0, got '-30'\."),
        ("9,1,2,", "9,1,2.5,", r"line 4: expected gpu_num as an integer of at least 0, got '2\.5'\."),
        ("700,0,Failed", "700,0,Lost", r"line 4: expected new_status Pass, Failed, Killed, got 'Lost'\."),
        ("11,3,12,", "11,3,300,", r"line 6: expected at most 256 GPUs, those of the cluster, got 300; max_gpus leaves"),
    ],
)
def test_damaged_files(trace: Path, old: str, new: str, message: str) -> None:
    """Tests that what is wrong with a file is told with its line."""
    trace.write_text(TRACE.replace(old, new))
    with pytest.raises(ValueError, match=message):
        _read(trace)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 5}, r"count: expected at most 4, the usable jobs of the file, got 5\."),
        ({"count": 0}, r"count: expected at least 1, got 0\."),
        ({"skip_rows": 5}, r"skip_rows: expected jobs with GPUs after row 5, got none\."),
        ({"skip_rows": -1}, r"skip_rows: expected at least 0, got -1\."),
        ({"statuses": ("Lost",)}, r"statuses: expected one of Pass, Failed, Killed, got 'Lost'\."),
        ({"models": ("LeNet",)}, r"models: expected one of AlexNet, .*, got 'LeNet'\."),
        ({"load": -1.0}, r"load: expected at least 0, got -1\.0\."),
        ({"nodes": "nowhere.csv"}, r"nodes: expected a file that can be read, got 'nowhere\.csv'\."),
        ({"cluster": parse_cluster("2xT4"), "nodes": "n"}, r"nodes: expected either a cluster or a list of nodes"),
        (
            {"cluster": parse_cluster("16xT4"), "models": ("GPT-3-6.7B",)},
            r"models: expected a network that fits on 1 GPU",
        ),
    ],
)
def test_bad_options(trace: Path, options: dict[str, Any], message: str) -> None:
    """Tests that options out of range are refused by name."""
    with pytest.raises(ValueError, match=message):
        _read(trace, **options)


def test_unknown_formats_and_options(trace: Path) -> None:
    """Tests that formats and options are found by name."""
    with pytest.raises(ValueError, match=r"format: expected one of philly, helios, got 'nope'\."):
        read_jobs("nope", trace)
    with pytest.raises(
        ValueError, match=r"option colour: expected one of .*, the options of format philly, got 'colour'"
    ):
        read_jobs("philly", trace, colour=1)
    assert all(reader.description and reader.options() for reader in JOBS_READERS.values())


def test_nodes(tmp_path: Path, trace: Path) -> None:
    """Tests that nodes with GPUs of known kinds become servers, and undisclosed ones with a stand-in."""
    path = tmp_path / "nodes.csv"
    path.write_text(NODES)
    cluster = read_alibaba_nodes(path, nic_gbit=10.0)
    assert [(s.name, len(s.kinds), s.kinds[0].name) for s in cluster.servers] == [
        ("a", 2, "P100"),
        ("d", 4, "V100-32GB"),
    ]
    assert {server.nic_bandwidth for server in cluster.servers} == {1.25e9}
    wider = read_alibaba_nodes(path, stand_in_kind="A10")
    assert [server.kinds[0].name for server in wider.servers] == ["P100", "A10", "V100-32GB"]
    instance = _read(trace, nodes=path, max_gpus=2)
    assert (instance.server_names, instance.kinds) == (("a", "d"), ("P100", "V100-32GB"))
    assert instance.nic_bytes_per_tick(0) == 25 * 10**9 // 8 // 1000


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sn,", "name,", r"line 1: expected the columns sn,cpu_milli,memory_mib,gpu,model, got name,"),
        ("2,P100", "2", r"line 2: expected 5 columns, got 4\."),
        ("2,P100", "-2,P100", r"line 2: expected gpu as an integer of at least 0, got '-2'\."),
        ("P100", "P4000", r"line 2: expected a model among T4, P100, .*, got 'P4000'\."),
    ],
)
def test_damaged_node_lists(tmp_path: Path, trace: Path, old: str, new: str, message: str) -> None:
    """Tests that what is wrong with a node list is told with its line, through the trace's reader too."""
    path = tmp_path / "nodes.csv"
    path.write_text(NODES.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_alibaba_nodes(path)
    with pytest.raises(ValueError, match=f"nodes, {message}"):
        _read(trace, nodes=path)


def test_no_nodes_left(tmp_path: Path) -> None:
    """Tests that a list of undisclosed models alone is refused."""
    path = tmp_path / "nodes.csv"
    path.write_text("\n".join([NODES.splitlines()[0], "c,64000,262144,8,G2"]))
    with pytest.raises(ValueError, match=r"line 2: expected a node with GPUs of a known kind, got none"):
        read_alibaba_nodes(path)


@pytest.mark.parametrize(
    ("name", "rows", "with_gpus", "widest"), [("philly", 15_000, 15_000, 48), ("helios", 15_000, 10_796, 160)]
)
def test_published_cuts(name: str, rows: int, with_gpus: int, widest: int) -> None:
    """Tests that the published cuts have the numbers of jobs and GPUs that their description gives."""
    path = real_data(f"gen-parallel-workloads/{name}_15000.csv.gz")
    with gzip.open(path, "rt") as file:
        jobs = parse_gpu_trace(file.read())
    used = [job for job in jobs if job.gpus > 0]
    assert (len(jobs), len(used), max(job.gpus for job in used)) == (rows, with_gpus, widest)
    instance = read_jobs(name, path, skip_rows=0, count=1500)
    assert (instance.num_jobs, int(instance.release[0])) == (1500, 0)
    assert instance.gang_size.tolist() == [job.gpus for job in used[:1500]]
    run_seconds = np.array([job.run_seconds for job in used[:1500]])
    seconds = least_durations(instance) * instance.tick_seconds
    alpha = seconds / instance.iterations
    assert (np.abs(seconds - run_seconds)[run_seconds >= alpha] <= alpha[run_seconds >= alpha] / 2 + 1e-9).all()


def test_published_nodes() -> None:
    """Tests that both published lists have the same 1,508 GPUs of known kinds, and 6,212 with the undisclosed ones."""
    for name in ("gpu_node", "all_node"):
        path = real_data(f"alibaba-gpu-v2023/openb_node_list_{name}.csv")
        kinds = [kind.name for kind in read_alibaba_nodes(path).kinds]
        counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
        assert counts == {"A10": 2, "P100": 265, "T4": 842, "V100-16GB": 195, "V100-32GB": 204}
        assert len(read_alibaba_nodes(path, stand_in_kind="A100-40GB").kinds) == 6_212
