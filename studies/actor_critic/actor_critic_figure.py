"""How the reward of each variant went on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.figures.house_style import line_styles, lines_only, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from studies.actor_critic.actor_critic_study import ActorCriticStudy


def actor_critic_figure(study: ActorCriticStudy, ax: Axes | None = None) -> Axes:
    """Draw the mean team reward per step over the steps, with a band of one standard error where there are seeds.

    Parameters
    ----------
    study
        Result of `actor_critic_study`.
    ax
        Where to draw; by default a figure of its own.
    """
    ax = ax or new_axes(9.5, 2.2 + 0.2 * max(12, len(study.variants)))
    for name, style in line_styles(study.curves).items():
        curve = study.curves[name]
        points = curve.shape[1]
        steps = (np.arange(points) + 0.5) * study.steps / points
        mean = curve.mean(axis=0)
        ax.plot(steps, mean, color=style.colour, linestyle=style.dashes, linewidth=1.5, label=name)
        if len(curve) > 1:
            error = curve.std(axis=0, ddof=1) / np.sqrt(len(curve))
            ax.fill_between(steps, mean - error, mean + error, color=style.colour, alpha=0.12, linewidth=0)
    lines_only(ax)
    ax.set_xlim(0, study.steps)
    ax.set_xlabel("steps in the environment")
    ax.set_ylabel("team reward per step, mean and standard error over seeds")
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
