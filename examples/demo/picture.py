"""Draws recordings: the sound, the speech found in it, the probability."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

os.environ.setdefault("MPLBACKEND", "Agg")

from matplotlib import pyplot

INK = "#1d2433"
MUTED = "#7a8294"
RULE = "#d9dde5"
SOUND = "#aab3c2"
SPOKEN = "#38618c"
SPEECH = "#fdf1cf"
CURVE = "#e08e0b"

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 7.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def envelope(samples: np.ndarray, columns: int) -> tuple[np.ndarray, ...]:
    """Lowest and highest sample in each of `columns` equal stretches."""
    edges = np.linspace(0, len(samples), columns + 1)[:-1].astype(int)
    return (np.minimum.reduceat(samples, edges), np.maximum.reduceat(samples, edges))


def draw_sound(axes, result) -> None:
    """The waveform, darker where there is speech, over a quiet band."""
    columns = min(len(result.samples), int(result.seconds * 240))
    low, high = envelope(result.samples, columns)
    times = (np.arange(columns) + 0.5) * result.seconds / columns
    loudest = max(float(np.abs(result.samples).max()), 1e-6)
    spoken = np.zeros(columns, bool)
    for segment in result.segments:
        axes.axvspan(segment.start, segment.end, color=SPEECH, lw=0, zorder=0)
        spoken |= (times >= segment.start) & (times <= segment.end)
    # The sound lies in the middle of the panel and takes its full height.
    low, high = (0.5 + 0.46 * side / loudest for side in (low, high))
    for mask, colour in ((~spoken, SOUND), (spoken, SPOKEN)):
        axes.vlines(times[mask], low[mask], high[mask], color=colour, lw=0.7, zorder=2)


def draw_probability(axes, result, leave: float, enter: float) -> None:
    """The curve of the model's answers, with its two thresholds."""
    axes.hlines(
        (leave, enter),
        0,
        result.seconds,
        color=CURVE,
        lw=0.6,
        alpha=0.5,
        linestyles=(0, (4, 4)),
    )
    times = (np.arange(len(result.probabilities)) + 0.5) * result.step
    axes.plot(times, result.probabilities, color="white", lw=3.2, zorder=3)
    axes.plot(times, result.probabilities, color=CURVE, lw=1.6, zorder=4)


def draw_key(figure, y: float) -> None:
    """Names the colours in the upper right corner, each in its own."""
    keys = (
        ("everything else", SOUND),
        ("found speech", SPOKEN),
        ("probability of speech", CURVE),
    )
    right = None
    for text, colour in keys:
        place = ((0.975, y), "figure fraction", (0, 0))
        if right:
            place = ((0, 0.5), right, (-18, 0))
        right = figure.axes[0].annotate(
            text,
            place[0],
            xycoords=place[1],
            xytext=place[2],
            textcoords="offset points",
            color=colour,
            weight="bold",
            ha="right",
            va="center",
            annotation_clip=False,
        )


def draw(results: list, leave: float, enter: float, target: Path) -> None:
    """Writes a PNG with a panel for each result, all on one time scale."""
    longest = max(result.seconds for result in results)
    height = 1.25 * len(results) + 1.35
    with pyplot.rc_context(STYLE):
        figure, panels = pyplot.subplots(
            len(results),
            1,
            sharex=True,
            squeeze=False,
            figsize=(11, height),
            gridspec_kw={"hspace": 0.42},
        )
        figure.subplots_adjust(
            left=0.055, right=0.975, top=1 - 0.85 / height, bottom=0.45 / height
        )
        for axes, result in zip(panels[:, 0], results):
            draw_sound(axes, result)
            draw_probability(axes, result, leave, enter)
            axes.set_xlim(0, longest)
            axes.set_ylim(-0.03, 1.03)
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.tick_params(length=0)
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
            axes.spines["bottom"].set_bounds(0, result.seconds)
            name = axes.annotate(
                result.name, (0, 1.09), xycoords="axes fraction", weight="bold"
            )
            axes.annotate(
                result.words,
                (1, 1.09),
                xycoords=(name, "axes fraction"),
                xytext=(8, 0),
                textcoords="offset points",
                style="italic",
            )
            axes.set_title(
                f"{result.chunk_time * 1e6:.0f} µs a chunk, "
                f"{result.speed:.0f} × real time",
                loc="right",
                fontsize=8,
                y=1.09,
                pad=0,
                color=MUTED,
            )
        panels[-1, 0].set_xlabel("seconds", labelpad=2)
        figure.text(
            0.055,
            1 - 0.34 / height,
            "Where somebody speaks",
            fontsize=15,
            weight="bold",
            va="center",
        )
        draw_key(figure, 1 - 0.34 / height)
        figure.savefig(target, dpi=160)
        pyplot.close(figure)
