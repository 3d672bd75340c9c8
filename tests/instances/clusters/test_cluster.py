"""Tests of clusters, their links, presets and texts."""

from __future__ import annotations

import numpy as np
import pytest

from instances.clusters.cluster import CLUSTER_PRESETS, Cluster, Server, parse_cluster
from instances.clusters.gpu_kinds import gpu_kind


def kind_names(cluster: Cluster) -> list[str]:
    """Name the kind of every GPU."""
    return [kind.name for kind in cluster.kinds]


def test_links_of_a_preset_by_hand() -> None:
    """Tests the links of two servers with A100 and T4, V100 and P100: PCIe inside, the NIC between."""
    cluster = parse_cluster("mixed-4")
    assert kind_names(cluster) == ["A100-40GB", "T4", "V100-16GB", "P100"]
    inside, nic = 15.75e9, 12.5e9
    assert cluster.bytes_per_second().tolist() == [
        [1.0, inside, nic, nic],
        [inside, 1.0, nic, nic],
        [nic, nic, 1.0, inside],
        [nic, nic, inside, 1.0],
    ]
    near, far = 10e-6, 25e-6
    assert cluster.latency_seconds().tolist() == [
        [0.0, near, far, far],
        [near, 0.0, far, far],
        [far, far, 0.0, near],
        [far, far, near, 0.0],
    ]


def test_nvlink_where_both_have_it_and_the_server_is_wired_so() -> None:
    """Tests that two V100 use NVLink, a V100 and a P100 PCIe, and GPUs without bridges PCIe throughout."""
    bandwidth = parse_cluster("2xV100-16GB+P100").bytes_per_second()
    assert bandwidth[0, 1] == 150e9
    assert bandwidth[0, 2] == bandwidth[2, 1] == 15.75e9
    assert set(parse_cluster("workstation-2080-ti").bytes_per_second()[~np.eye(4, dtype=bool)]) == {15.75e9}


def test_a_slow_lane_slows_the_way_between_servers() -> None:
    """Tests that a link between servers runs at the slower of NICs and PCIe."""
    kinds = (gpu_kind("A100-40GB"),)
    fast = Server(name="a", kinds=kinds, nic_bandwidth=100e9)
    slow = Server(name="b", kinds=(gpu_kind("T4"),), nic_bandwidth=50e9)
    assert Cluster(servers=(fast, slow)).bytes_per_second()[0, 1] == 15.75e9


@pytest.mark.parametrize(
    ("preset", "num_gpus", "num_servers", "num_kinds"),
    [
        ("mixed-2", 2, 1, 2),
        ("mixed-3", 3, 1, 3),
        ("mixed-4", 4, 2, 4),
        ("mixed-4-slow", 4, 4, 4),
        ("mixed-8", 8, 4, 4),
        ("mixed-16", 16, 4, 4),
        ("mixed-64", 64, 8, 4),
        ("v100-t4-p100-pair", 6, 2, 3),
        ("k80-p100-v100", 12, 3, 3),
        ("h100-a100-l40s", 6, 3, 3),
        ("inference-l4-t4-a10", 6, 3, 3),
        ("workstation-2080-ti", 4, 1, 1),
        ("identical-4", 4, 1, 1),
        ("dgx-a100", 8, 1, 1),
        ("dgx-a100-pair", 16, 2, 1),
        ("dgx-h100", 8, 1, 1),
    ],
)
def test_presets(preset: str, num_gpus: int, num_servers: int, num_kinds: int) -> None:
    """Tests the numbers of GPUs, servers and kinds of every preset."""
    cluster = parse_cluster(preset)
    assert (len(cluster.kinds), len(cluster.servers)) == (num_gpus, num_servers)
    assert len(set(kind_names(cluster))) == num_kinds


def test_the_list_of_presets_is_complete_and_documented() -> None:
    """Tests that the test above knows all presets and that each one says what it models."""
    (marker,) = test_presets.pytestmark  # type: ignore[attr-defined]
    assert [row[0] for row in marker.args[1]] == list(CLUSTER_PRESETS)
    assert all(preset.description.count(" ") > 3 for preset in CLUSTER_PRESETS.values())


def test_parse_a_text() -> None:
    """Tests that commas part servers, plus signs GPUs, and counts multiply."""
    cluster = parse_cluster("2xV100-16GB+1xT4, 4xP100")
    assert [[kind.name for kind in server.kinds] for server in cluster.servers] == [
        ["V100-16GB", "V100-16GB", "T4"],
        ["P100"] * 4,
    ]
    assert [server.name for server in cluster.server_of_gpu] == ["s0"] * 3 + ["s1"] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cluster: expected a preset or COUNTxKIND"),
        ("2 T4", "cluster: expected a preset or COUNTxKIND"),
        ("mixed-5", "cluster: expected a preset .mixed-2, .* .did you mean mixed-"),
        ("2xT40,P100", "GPU kind: expected one of .* .did you mean T4"),
        ("0xT4", "cluster: expected at least one GPU on server 's0', got none."),
        ("999999999*0xT4", "cluster: expected at most 4096 GPUs"),
        ("600*8xT4", "cluster: expected at most 4096 GPUs"),
        ("0*T4", "cluster: expected at least one server, got none."),
        ("2*2*T4", "cluster: expected a preset or COUNTxKIND"),
    ],
)
def test_a_broken_text_is_an_error(text: str, message: str) -> None:
    """Tests the message for every way in which the text of a cluster can be wrong."""
    with pytest.raises(ValueError, match=message):
        parse_cluster(text)


def test_like_servers_are_counted() -> None:
    """Tests that a number before a star repeats a server, and names go on counting."""
    cluster = parse_cluster("2*2xT4+P100, P100,3*A40")
    assert [server.name for server in cluster.servers] == [f"s{number}" for number in range(6)]
    assert ["+".join(kind.name for kind in server.kinds) for server in cluster.servers] == [
        *["T4+T4+P100"] * 2,
        "P100",
        *["A40"] * 3,
    ]
    assert len(parse_cluster("250*8xV100-16GB").kinds) == 2000


def test_a_cluster_needs_servers_with_names_of_their_own() -> None:
    """Tests that no servers, and two servers of one name, are refused."""
    server = Server(name="a", kinds=(gpu_kind("T4"),))
    with pytest.raises(ValueError, match="cluster: expected at least one server, got none"):
        Cluster(servers=())
    with pytest.raises(ValueError, match="cluster: expected a name of its own for each server"):
        Cluster(servers=(server, server))


def test_bridges_join_pairs() -> None:
    """Tests that bridges link A40s 0-1 and 2-3 only, by hand; all other links are PCIe 4.0."""
    bandwidth = parse_cluster("5xA40").bytes_per_second()
    for source in range(5):
        for target in range(5):
            if source != target:
                is_pair = {source, target} in ({0, 1}, {2, 3})
                assert bandwidth[source, target] == (56.25e9 if is_pair else 31.5e9)
