"""Tests of the study of the actor-critic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.actor_critic.settings import PRINTED, REPAIRED
from heuristics.jobs.actor_critic.train import actor_critic
from studies.papers.actor_critic import (
    COLUMNS,
    POINTS,
    PUBLISHED,
    REPAIRS,
    REWARDS,
    SETS,
    SIGNS,
    ActorCriticStudy,
    actor_critic_figure,
    actor_critic_study,
    actor_critic_table,
    gossip_weights,
    read_runs,
    variants_named,
    write_runs,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


STEPS = 800
NAMES = ("V critic", "V critic, tg = 0")  # one program for both


@pytest.fixture(scope="module")
def study() -> ActorCriticStudy:
    """Return a short study of two variants."""
    return actor_critic_study(variants_named("; ".join(NAMES)), seeds=2, steps=STEPS)


@pytest.mark.slow
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
    for text in (actor_critic_table(study).to_text(), actor_critic_table(study).to_markdown()):
        assert f"{summary.last:.2f}" in text
        assert "-6.51" in text
    apart = study.summaries()[1]
    assert apart.weight_gap > 1000 * summary.weight_gap
    assert apart.messages == 0


@pytest.mark.slow
def test_stored_runs_are_not_repeated(study: ActorCriticStudy, tmp_path: Path) -> None:
    """Tests that a study that is broken off goes on behind what it stored, and that the end is that of one run."""
    variants, path = variants_named("; ".join(NAMES)), tmp_path / "runs.csv"

    def keep(runs: pd.DataFrame) -> None:
        """Store, and be killed after the first variant."""
        write_runs(path, runs)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        actor_critic_study(variants, seeds=2, steps=STEPS, on_runs=keep)
    stored = read_runs(path)
    assert stored is not None
    assert stored["variant"].tolist() == [NAMES[0]] * 2
    added: list[int] = []
    ended = actor_critic_study(
        variants, seeds=2, steps=STEPS, stored=stored, on_runs=lambda runs: added.append(len(runs))
    )
    assert added == [4]
    assert ended.frame.equals(study.frame)
    all_of_it = actor_critic_study(variants[1:], seeds=1, steps=STEPS, stored=study.frame, on_runs=keep)
    assert all_of_it.frame["last"].tolist() == study.frame["last"].tolist()[2:3]
    write_runs(path, study.frame)
    again = read_runs(path)
    assert again is not None
    assert again.equals(study.frame)
    assert list(again.columns) == list(COLUMNS)


def test_what_tells_runs_apart() -> None:
    """Tests that steps, settings, grid, gossip weights and what is trained before are in the key, a name is not."""
    variant = variants_named("V critic")[0].lasting(STEPS)
    others = [
        variant.lasting(STEPS + 20),
        replace(variant, settings=replace(variant.settings, beta=0.004)),
        replace(variant, environment=replace(variant.environment, width=14)),
        replace(variant, weights="random"),
        replace(variant, before=variant),
        replace(variant, before=variant.lasting(STEPS + 20)),
    ]
    assert len({one.key for one in (variant, *others)}) == 7
    assert replace(variant, name="mine", stated_last=-1.0).key == variant.key == variant.lasting(STEPS + 19).key


@pytest.mark.slow
def test_what_is_trained_before(study: ActorCriticStudy) -> None:
    """Tests that actors begin with what the variant before leaves, all else alike."""
    plain = variants_named("V critic")[0].lasting(STEPS)
    variant = replace(plain, name="on", before=plain)
    before = actor_critic(plain.environment, plain.settings, gossip_weights(plain), seeds=(0, 1))
    runs = actor_critic(plain.environment, plain.settings, gossip_weights(plain), seeds=(0, 1), actors=before.actors)
    found = actor_critic_study([variant], seeds=2, steps=STEPS)
    reward = runs.curves.team_reward.astype(np.float64)
    assert found.frame["last"].tolist() == reward[:, -4:].mean(axis=1).tolist()
    assert found.frame["first"].tolist() != study.frame["first"].tolist()[:2]
    assert found.frame["last"].tolist() != study.frame["last"].tolist()[:2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed,", "seeds,", "columns: expected variant, settings, steps, seed, first and others, got variant, "),
        (",800,0,", ",800,0.5,", "seed[0]: expected an integer, got '0.5'."),
        (",800,1,", ",800,0,", "rows[1]: expected every run once, got seed 0 again."),
        (",40,", ",,", "messages[0]: expected an integer, got ''."),
        (",40,", ",nan,40,", "rows[0]: expected 53 columns, got 54."),
        ("-", "1e999 -", "first[0]: expected a finite number, got '1e999 -"),
    ],
)
def test_broken_files(study: ActorCriticStudy, tmp_path: Path, old: str, new: str, message: str) -> None:
    """Tests that files of anything else are refused in one line; no file and an empty one hold nothing."""
    path = tmp_path / "runs.csv"
    assert read_runs(path) is None
    path.touch()
    assert read_runs(path) is None
    write_runs(path, study.frame)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError) as caught:
        read_runs(path)
    assert str(caught.value).startswith(message)


def test_signs() -> None:
    """Tests that each pair differs in the sign alone, and that all but the last hear the reward tenfold."""
    for printed, minus in zip(SIGNS[::2], SIGNS[1::2], strict=True):
        assert (printed.settings.sign, minus.settings.sign) == ("printed", "repaired")
        assert replace(printed, name=minus.name, settings=replace(printed.settings, sign="repaired")) == minus
        assert printed.settings == replace(
            REPAIRED,
            signal="q_residual",
            sign="printed",
            warm_start=False,
            reward_shift=printed.settings.reward_shift,
        )
    assert [one.environment.reward_scale for one in SIGNS] == [0.1] * 6 + [10.0] * 2
    assert [one.settings.reward_shift for one in SIGNS[::2]] == [38.0, 38.0, 0.0, 0.38]
    assert [one.before is not None for one in SIGNS] == [False] * 2 + [True] * 2 + [False] * 4


def test_figure(study: ActorCriticStudy) -> None:
    """Tests that each variant is a line through the means of its curve."""
    ax = actor_critic_figure(study)
    assert [line.get_label() for line in ax.lines] == list(NAMES)
    for line, name in zip(ax.lines, NAMES, strict=True):
        assert np.asarray(line.get_ydata()) == pytest.approx(study.curves[name].mean(axis=0))
        assert np.asarray(line.get_xdata())[[0, -1]] == pytest.approx([10, STEPS - 10])


def test_variants() -> None:
    """Tests names, the published settings and values, and that both signs stand beside each other."""
    names = {variant.name for variants in SETS.values() for variant in variants}
    assert len(names) == len(REPAIRS) + len(SIGNS) + len(PUBLISHED)
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
    assert variants_named("signs") == SIGNS


def test_misuse() -> None:
    """Tests that unknown variants, no seeds and too few steps are refused."""
    with pytest.raises(
        ValueError, match=r"^variants: expected repairs, signs, published or the name of a v.*, got ''\.$"
    ):
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
    written = (tmp_path / "r.csv").read_text()
    assert written.count("\n") == 5
    assert not set(REWARDS) & set(ended.document["runs"][0])
    assert run("study", "actor-critic", *small, "--csv", "r.csv", "--json").document == ended.document
    assert (tmp_path / "r.csv").read_text() == written
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "t.md").read_text() == actor_critic_table(study).to_markdown()
    bad = run("study", "actor-critic", *small, "--csv", "t.md")
    assert (bad.status, bad.err.startswith("t.md: columns: expected variant, ")) == (2, True)
    assert (tmp_path / "t.md").read_text() == actor_critic_table(study).to_markdown()
    bad = run("study", "actor-critic", "--variants", "mine")
    expected = "--variants: expected repairs, signs, published or the name of a variant, got 'mine'.\n"
    assert (bad.status, bad.err) == (2, expected)
    bad = run("study", "actor-critic", "--steps", "100")
    assert (bad.status, bad.err.startswith("--steps: expected at least 800 for ")) == (2, True)
