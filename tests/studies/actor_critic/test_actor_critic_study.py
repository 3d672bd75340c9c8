"""Tests of the study of the actor-critic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.actor_critic.actor_critic import actor_critic
from heuristics.jobs.actor_critic.settings import PRINTED, REPAIRED
from studies.actor_critic.actor_critic_figure import actor_critic_figure
from studies.actor_critic.actor_critic_study import POINTS, ActorCriticStudy, actor_critic_study, gossip_weights
from studies.actor_critic.actor_critic_text import actor_critic_markdown, actor_critic_text
from studies.actor_critic.variant import PUBLISHED, REPAIRS, SETS, variants_named

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

STEPS = 800
NAMES = ("V critic", "V critic, tg = 0")  # one program for both


@pytest.fixture(scope="module")
def study() -> ActorCriticStudy:
    """Return a short study of two variants."""
    return actor_critic_study(variants_named("; ".join(NAMES)), seeds=2, steps=STEPS)


def test_numbers_are_those_of_the_curves(study: ActorCriticStudy) -> None:
    """Tests first, last and errors against the training itself, and that frame, summary, text and curves agree."""
    variant = next(one for one in REPAIRS if one.name == "V critic")
    runs = actor_critic(
        variant.environment, replace(variant.settings, iterations=STEPS // 20), [[0.7, 0.3], [0.3, 0.7]], seeds=(0, 1)
    )
    reward = runs.curves.team_reward.astype(np.float64)
    summary = study.summaries()[0]
    assert (summary.variant, summary.runs) == ("V critic", 2)
    assert summary.first == pytest.approx(reward[:, 0].mean())
    assert summary.last == pytest.approx(reward[:, -4:].mean())
    rise = reward[:, -4:].mean(axis=1) - reward[:, 0]
    assert summary.rise == pytest.approx(rise.mean())
    assert summary.rise_error == pytest.approx(rise.std(ddof=1) / np.sqrt(2))
    assert (summary.stated_first, summary.stated_last) == (-7.93, -6.51)
    assert (summary.messages, summary.bytes) == (40, 20 * 4 * (5 * 400 + 10))
    assert study.frame["variant"].tolist() == [name for name in NAMES for _ in range(2)]
    assert study.curves["V critic"].shape == (2, POINTS)
    assert study.curves["V critic"] == pytest.approx(reward)
    for text in (actor_critic_text(study), actor_critic_markdown(study)):
        assert f"{summary.last:.2f}" in text
        assert "-6.51" in text
    apart = study.summaries()[1]
    assert apart.weight_gap > 1000 * summary.weight_gap
    assert apart.messages == 0


def test_figure(study: ActorCriticStudy) -> None:
    """Tests that each variant is a line through the means of its curve."""
    ax = actor_critic_figure(study)
    assert [line.get_label() for line in ax.lines] == list(NAMES)
    for line, name in zip(ax.lines, NAMES, strict=True):
        assert np.asarray(line.get_ydata()) == pytest.approx(study.curves[name].mean(axis=0))
        assert np.asarray(line.get_xdata())[[0, -1]] == pytest.approx([10, STEPS - 10])


def test_variants() -> None:
    """Tests names, the published settings and values, and that both signs stand beside each other."""
    assert len({variant.name for variants in SETS.values() for variant in variants}) == len(REPAIRS) + len(PUBLISHED)
    by_name = {variant.name: variant for variant in PUBLISHED}
    assert by_name["published defaults"].settings == PRINTED
    assert by_name["published defaults, minus sign"].settings == replace(PRINTED, sign="repaired")
    assert len(PUBLISHED) == 23
    levels = {name: one.stated_last for name, one in by_name.items() if "minus" not in name}
    assert sorted(levels.values()) == [
        -9.1, -7.8, -7.5, -5.2, -5.05, -4.95, -4.85, -4.5, -4.1, -4.0, -3.8, -3.7,
    ]  # fmt: skip
    for variant in PUBLISHED:
        assert not variant.environment.local_rewards
        weights = gossip_weights(variant)
        assert len(weights) == variant.environment.num_agents
        assert weights.sum(axis=0) == pytest.approx(np.ones(len(weights)))
    assert next(one for one in REPAIRS if one.name == "V critic, b x 0.1").settings == REPAIRED
    assert variants_named("repairs") == REPAIRS
    assert len(variants_named("repairs; published;V critic")) == len(REPAIRS) + len(PUBLISHED)


def test_misuse() -> None:
    """Tests that unknown variants, no seeds and too few steps are refused."""
    with pytest.raises(ValueError, match=r"^variants: expected repairs, published or the name of a variant, got ''\.$"):
        variants_named("V critic;")
    with pytest.raises(ValueError, match=r"^seeds: expected at least 1, got 0\.$"):
        actor_critic_study(REPAIRS, seeds=0)
    with pytest.raises(ValueError, match=r"^steps: expected at least 800 for V critic, got 799\.$"):
        actor_critic_study(variants_named("V critic"), steps=799)


def test_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, study: ActorCriticStudy) -> None:
    """Tests the command: JSON and files with the numbers of the study, and misuse in one line."""
    monkeypatch.chdir(tmp_path)
    small = ("--variants", ";".join(NAMES), "--seeds", "2", "--steps", str(STEPS))
    ended = run("study", "actor-critic", *small, "--csv", "r.csv", "--figure", "f.png", "--markdown", "t.md", "--json")
    assert ended.status == 0
    assert [row["last"] for row in ended.document["runs"]] == pytest.approx(study.frame["last"].tolist())
    assert ended.document["summaries"][0]["variant"] == "V critic"
    assert (tmp_path / "r.csv").read_text().count("\n") == 5
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "t.md").read_text() == actor_critic_markdown(study)
    bad = run("study", "actor-critic", "--variants", "mine")
    expected = "--variants: expected repairs, published or the name of a variant, got 'mine'.\n"
    assert (bad.status, bad.err) == (2, expected)
    bad = run("study", "actor-critic", "--steps", "100")
    assert (bad.status, bad.err.startswith("--steps: expected at least 800 for ")) == (2, True)
