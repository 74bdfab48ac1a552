"""Two models side by side on two CPU streams.

    .venv/bin/python examples/streams/overlap.py [--picture overlap.png]

Two chains of small matrix products, first one after the other, then each on a
stream of its own. No product is divided among cores (one intra-op thread), so
only streams use the second one. Prints both times and what the profiler saw;
the picture has a row for each stream.
"""

from __future__ import annotations

import argparse
import time

import hotaru as torch

STEPS = 300


def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """One step feeds the next: nothing in it can run side by side."""
    for _ in range(STEPS):
        x = torch.tanh(x @ w)
    return x


def run(streams) -> tuple[float, list[torch.Tensor]]:
    """Milliseconds for both chains, and their ends."""
    torch.manual_seed(0)
    inputs = [(torch.randn(96, 96), torch.randn(96, 96) / 8) for _ in streams]
    start = time.perf_counter()
    ends = []
    for stream, (x, w) in zip(streams, inputs):
        with torch.cpu.stream(stream):
            ends.append(chain(x, w))
    torch.cpu.synchronize()
    return (time.perf_counter() - start) * 1e3, ends


def draw(events, path: str) -> None:
    """A row for each stream, a bar for each call."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    calls = [event for event in events if event.stream]
    origin = min(event.start for event in calls)
    rows = {s: i for i, s in enumerate(sorted({e.stream for e in calls}))}
    figure, axes = plt.subplots(figsize=(9, 2.2))
    for name, colour in (("matmul", "#3b6ea5"), ("tanh", "#e08e3c")):
        bars = [e for e in calls if e.name == name]
        for stream, row in rows.items():
            axes.broken_barh(
                [
                    ((e.start - origin) / 1e3, e.duration / 1e3)
                    for e in bars
                    if e.stream == stream
                ],
                (row - 0.35, 0.7),
                color=colour,
                label=name if row == 0 else None,
            )
    names = [f"stream {i + 1}" for i in rows.values()]
    axes.set_yticks(list(rows.values()), names)
    axes.set_xlabel("ms")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", help="where to draw what ran when (PNG)")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    streams = [torch.cpu.Stream(), torch.cpu.Stream()]
    # The best of several: others use the machine, too.
    alone, want = min((run([None, None]) for _ in range(9)), key=lambda r: r[0])
    both, got = min((run(streams) for _ in range(9)), key=lambda r: r[0])
    assert all(torch.equal(a, b) for a, b in zip(want, got))
    print(f"one after the other  {alone:6.2f} ms")
    print(f"on two streams       {both:6.2f} ms, equal to the bit")

    def recorded():
        with torch.profiler.profile() as prof:
            took, _ = run(streams)
        return took, prof

    _, prof = min((recorded() for _ in range(9)), key=lambda r: r[0])
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=3))
    if arguments.picture:
        draw(prof.events(), arguments.picture)


if __name__ == "__main__":
    main()
