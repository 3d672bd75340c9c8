"""Tests of `optgap train`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.worl_rtgs.network import initial_weights, load_weights, save_weights, weights_sha256
from heuristics.dag.worl_rtgs.training_instances import dag_instances_sha256, held_out_instances, validation_instances
from heuristics.jobs.marl.network_files import AgentNetworks, load_any_network, load_network
from instances.dag.instance import DagInstance
from instances.dag.json import write_dag_instance

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Ended, Run

pytestmark = pytest.mark.whole


SMALL = ("--steps", "900", "--set", "warm_up=100", "--set", "validate_every=300", "--set", "target_every=100")


@pytest.mark.slow
def test_training_writes_weights_and_where_they_come_from(run: Run, tmp_path: Path) -> None:
    """Tests the files of a short training: hash, seeds, configuration, curve, held-out result, and no path."""
    out = tmp_path / "deep" / "tiny.npz"
    out.parent.mkdir()
    ended = run("train", "worl-rtgs", "--seed", "5", *SMALL, "--gamma", "0.9", "--out", str(out), "--json")
    assert (ended.status, ended.err) == (0, "")
    text = out.with_suffix(".json").read_text(encoding="utf-8")
    stored = json.loads(text)
    assert ended.document == {"weights": str(out), "provenance": str(out.with_suffix(".json")), **stored}
    assert str(tmp_path) not in text
    assert "deep" not in text
    assert stored["weights_sha256"] == weights_sha256(load_weights(out))
    assert stored["seed"] == 5
    assert stored["configuration"]["gamma"] == 0.9
    assert (stored["configuration"]["steps"], stored["configuration"]["warm_up"]) == (900, 100)
    assert stored["command"] == (
        "optgap train worl-rtgs --seed 5 --steps 900 --gamma 0.9 --set warm_up=100 --set validate_every=300 "
        "--set target_every=100 --out FILE"
    )
    assert {"python", "optgap", "numpy", "numba", "jax", "jaxlib", "optax"} <= set(stored["versions"])
    assert stored["validation"]["instances_sha256"] == dag_instances_sha256(validation_instances())
    assert stored["validation"]["mean_ratio"] == min(point["validation_ratio"] for point in stored["curve"])
    assert stored["held_out"]["instances_sha256"] == dag_instances_sha256(held_out_instances())
    assert stored["held_out"]["instances"] == 200
    assert stored["curve"][0]["steps"] == 0
    assert not stored["interrupted"]


@pytest.mark.slow
def test_fine_tuning_begins_with_given_weights(run: Run, tmp_path: Path, example_e: DagInstance) -> None:
    """Tests that fine-tuning takes the weights it is given, names instance and spread, and answers in text."""
    instance, start, out = tmp_path / "e.json", tmp_path / "start.npz", tmp_path / "tuned.npz"
    write_dag_instance(example_e, instance)
    weights = initial_weights(np.random.default_rng(1))
    save_weights(start, weights)
    arguments = ("--fine-tune", str(instance), "--weights", str(start), "--spread", "0.2", *SMALL)
    ended = run("train", "worl-rtgs", *arguments, "--out", out.name)
    assert (ended.status, ended.err) == (0, "")
    stored = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert stored["start_weights_sha256"] == weights_sha256(weights)
    assert stored["fine_tuned_to"] == {"instance": "E", "instance_sha256": example_e.sha256, "spread": 0.2}
    assert stored["configuration"]["learning_rate"] == 1e-4
    assert stored["validation"]["mean_ratio"] <= stored["curve"][0]["validation_ratio"]
    assert "held out: " in ended.out
    assert "provenance: tuned.json" in ended.out


def _train_agents(run: Run, out: Path, *more: str) -> Ended:
    """Run a short training of the multi-agent policy."""
    tiny = {"jobs": 6, "num_agents": 2, "variant": "flat", "speeds": "true", "episodes": 1, "imitation_episodes": 1}
    tiny |= {"imitation_epochs": 1, "validation_instances": 1, "chunk": 64, "same_instance": 1}
    arguments = [word for name, value in tiny.items() for word in ("--set", f"{name}={value}")]
    return run("train", "marl", "--seed", "5", "--updates", "1", *arguments, "--out", str(out), *more)


@pytest.mark.slow
def test_training_agents_writes_a_network_and_where_it_comes_from(run: Run, tmp_path: Path) -> None:
    """Tests the files of a short training of the multi-agent policy."""
    out = tmp_path / "deep" / "a.npz"
    out.parent.mkdir()
    ended = _train_agents(run, out, "--json")
    assert (ended.status, ended.err) == (0, "")
    text = out.with_suffix(".json").read_text(encoding="utf-8")
    stored = json.loads(text)
    assert ended.document == {"weights": str(out), "provenance": str(out.with_suffix(".json")), **stored}
    assert str(tmp_path) not in text
    assert stored["weights_sha256"] == load_network(out).sha256
    imitated = out.with_name("a-imitated.npz")
    assert stored["imitated_weights_sha256"] == load_network(imitated).sha256
    assert sorted(path.name for path in out.parent.iterdir()) == ["a-imitated.npz", "a.json", "a.npz"]
    assert (stored["seed"], stored["settings"]["jobs"], stored["settings"]["updates"]) == (5, 6, 1)
    assert stored["command"].startswith("optgap train marl --seed 5 --updates 1 --set jobs=6 --set num_agents=2 ")
    assert [point["updates"] for point in stored["curve"]] == [0, 0, 1]
    assert stored["validation"]["mean_ratio"] == min(point["validation"] for point in stored["curve"])
    held_out = stored["held_out"]
    assert set(held_out["mean_ratio"]) == {"teacher", "untrained", "imitated", "trained"}
    assert held_out["mean_ratio"]["teacher"] == 1
    assert all(len(values) == held_out["instances"] == 20 for values in held_out["mean_jct_ticks"].values())


@pytest.mark.slow
def test_training_agents_again_gives_the_same_network(run: Run, tmp_path: Path) -> None:
    """Tests the files of two trainings from one seed, and what is printed."""
    outs = [tmp_path / "a.npz", tmp_path / "b.npz"]
    _, second = (_train_agents(run, out) for out in outs)
    assert (second.status, second.err) == (0, "")
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert "held out: " in second.out
    assert "\n  imitated: " in second.out
    assert "b-imitated.npz" in "".join(second.out.split())  # long lines are wrapped
    assert "of the teacher's mean JCT on 20 instances (untrained " in second.out


@pytest.mark.slow
def test_training_with_gossip_writes_a_network_per_agent(run: Run, tmp_path: Path) -> None:
    """Tests the files of a short training without a centre: networks, settings that count, and what gossip sends."""
    out = tmp_path / "g.npz"
    tiny = {"jobs": 12, "num_agents": 2, "variant": "flat", "speeds": "true", "imitation_episodes": 1, "chunk": 64}
    tiny |= {
        "imitation_epochs": 1,
        "validation_instances": 1,
        "critic_steps": 4,
        "actor_steps": 8,
        "width": 8,
        "learning_rate": 0.01,
    }
    arguments = [word for name, value in tiny.items() for word in ("--set", f"{name}={value}")]
    ended = run("train", "marl-gossip", "--seed", "5", "--updates", "2", *arguments, "--out", str(out))
    assert (ended.status, ended.err) == (0, "")
    stored = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    networks = load_any_network(out)
    assert isinstance(networks, AgentNetworks)
    assert (networks.sha256, networks.num_agents) == (stored["weights_sha256"], 2)
    assert load_network(tmp_path / "g-imitated.npz").sha256 == stored["imitated_weights_sha256"]
    assert stored["command"].startswith("optgap train marl-gossip --seed 5 --updates 2 --set jobs=12 ")
    assert (stored["settings"]["critic_steps"], stored["settings"]["graph"]) == (4, "ring")
    assert "trace_decay" not in stored["settings"]
    assert stored["gossip"]["exchanges"] == 1  # a ring of two is complete
    assert stored["gossip"]["traffic_per_update"]["gossip"]["critic_bytes"] == 2 * 4 * 3 * 8**2
    assert [point["updates"] for point in stored["curve"]] == [0, 0, 2]
    assert stored["curve"][-1]["gap_before"] > stored["curve"][-1]["gap_after"]
    assert "1 exchanges per update, 4 messages, 0.00 MB" in ended.out
    line = run("train", "marl-gossip", "--set", "passes=2", "--out", str(out)).err
    assert line.startswith("--set: expected a parameter of marl-gossip (")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("woa", "--out", "w.npz"), "METHOD: expected one of worl-rtgs, marl, marl-gossip, got 'woa'."),
        (("worl-rtgs", "--out", "w.txt"), "w.txt: expected a name that ends in .npz."),
        (("worl-rtgs", "--out", "w.npz", "--spread", "1"), "--spread: expected none without --fine-tune, got 1."),
        (("worl-rtgs", "--out", "w.npz", "--steps", "0"), "--steps: expected an integer of at least 1, got 0."),
        (("worl-rtgs", "--out", "w.npz", "--gamma", "2"), "--gamma: expected a number in 0..1, got 2."),
        (("worl-rtgs", "--out", "w.npz", "--set", "batch=0"), "--set batch: expected at least 1, got 0."),
        (("worl-rtgs", "--out", "w.npz", "--set", "bach=1"), "--set: expected a parameter of worl-rtgs ("),
        (("worl-rtgs", "--out", "none/w.npz"), "none/w.npz: expected a file that can be written, got: "),
        (("worl-rtgs", "--out", "w.npz", "--weights", "w.npz"), "w.npz: expected another file to write than the one"),
        (("worl-rtgs", "--out", "w.npz", "--weights", "x.npz"), "x.npz: expected a file that can be read, got: "),
        (("worl-rtgs", "--out", "w.npz", "--weights", "bad.npz"), "bad.npz: expected a file of weights, got "),
        (("worl-rtgs", "--out", "w.npz", "--fine-tune", "bad.npz"), "bad.npz: "),
        (
            ("worl-rtgs", "--out", "w.npz", "--fine-tune", "empty.json"),
            "empty.json: tasks: expected 1 to 100000 (--set replay), got 0.",
        ),
        (("worl-rtgs",), "--out: expected"),
        (("worl-rtgs", "--out", "w.npz", "--updates", "1"), "--updates: expected none with worl-rtgs, got '1'."),
        (("marl", "--out", "w.npz", "--steps", "1"), "--steps: expected none with marl, got '1'."),
        (("marl", "--out", "w.npz", "--updates", "-1"), "--updates: expected an integer of at least 0, got -1."),
        (("marl", "--out", "w.npz", "--set", "chunk=0"), "--set chunk: expected at least 1, got 0."),
        (("marl", "--out", "w.npz", "--set", "variant=gnn"), "--set variant: expected one of flat, inner, inner-outer"),
        (("marl", "--out", "w.npz", "--set", "cluster=8xZZ"), "--set cluster: expected servers, got '8xZZ': "),
        (("marl", "--out", "w.npz", "--set", "family=woa"), "--set family: expected one of jobs-co-located, jobs-"),
        (("marl", "--out", "w.npz", "--set", "speeds=fast"), "--set speeds: expected predicted or true or none"),
        (("marl", "--out", "w.npz", "--set", "reward=dl3"), "--set reward: expected jct or dl2, got 'dl3'."),
        (("marl", "--out", "w.npz", "--set", "num_agents=99"), "--set num_agents: expected 1 to 8, one server each"),
    ],
)
def test_misuse_is_told_in_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], line: str
) -> None:
    """Tests that misuse ends with status 2 and one line, before anything is trained or written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.npz").write_text("no weights", encoding="utf-8")
    write_dag_instance(DagInstance.from_lists([], num_gpus=1), tmp_path / "empty.json")
    ended = run("train", *arguments)
    assert ended.status == 2
    assert ended.out == ""
    assert ended.err.startswith(line)
    assert ended.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.npz", "empty.json"]
