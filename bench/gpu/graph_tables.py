"""Rows of the figures of bench/gpu/graphs.py, with ratios and targets."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

DECODER = "decoder step"
NETWORKS = ("MLP", "CNN", "RNN", "LSTM(128) step", "ResNet-18-like", DECODER)
STEPS = ("MLP, SGD", "MLP, Adam", "CNN, SGD", "CNN, Adam")
GROUPS = {
    "A replay of one kernel from Python, host's time": ["replay"],
    "Inference, batch 1, µs a call (over: hotaru's graph)": [*NETWORKS],
    "Training, batch 32, µs a step (over: hotaru's graph)": [*STEPS],
    "Twelve elementwise calls on 256 MiB, captured": ["chain"],
    "An input of 64 MiB that moves between replays": ["moving"],
    "67 graphs of a decoder of 32 layers in one pool": ["many"],
    "Captures in a thread beside a loader that pins memory": ["loader"],
}


@dataclass
class Row:
    """One line: what, both libraries' figures, PyTorch's over hotaru's, and
    what is aimed at. The target is of the ratio if `of_ratio`.
    """

    label: str
    hotaru: float | None
    pytorch: float | None
    ratio: float | None = None
    target: str = ""
    of_ratio: bool = False

    def verdict(self) -> str:
        """Says whether the target was met, where it was measured."""
        value = self.ratio if self.of_ratio else self.hotaru
        if not self.target or value is None:
            return ""
        relation, aim = self.target.split()
        met = value >= float(aim) if relation == ">=" else value <= float(aim)
        return "met" if met else "missed"


def number(value) -> float | None:
    return None if isinstance(value, str) else value


def over(a, b) -> float | None:
    """The quotient, where both were measured."""
    a, b = number(a), number(b)
    return a / b if a is not None and b else None


def beyond(a, b) -> float | None:
    """The difference, where both were measured."""
    a, b = number(a), number(b)
    return a - b if a is not None and b is not None else None


def both(label: str, f, h: dict, t: dict, target: str = "") -> Row:
    """A row of f of each library's figures; the target is hotaru's."""
    return Row(label, f(h), f(t), None, target)


def plain(label: str, name: str, h: dict, t: dict, target: str = "") -> Row:
    """A row of one figure."""
    return both(label, lambda one: number(one.get(name)), h, t, target)


def of_replay(case: str, h: dict, t: dict) -> list[Row]:
    def launch(one):
        """The driver's time, without what a call by ctypes costs."""
        return beyond(one.get("raw"), one.get("call"))

    return [
        plain("g.replay(), ns", "replay", h, t),
        plain("cuGraphLaunch by ctypes, ns", "raw", h, t),
        plain("a call by ctypes, ns", "call", h, t),
        both("replay / launch", lambda x: over(x.get("replay"), launch(x)), h, t),
        both(
            "replay beyond the launch, ns",
            lambda x: beyond(x.get("replay"), launch(x)),
            h,
            t,
        ),
    ]


def of_network(case: str, h: dict, t: dict) -> list[Row]:
    targets = {"eager": ">= 3", "graph": ">= 1.3", "compile": ">= 1.1"}
    return timed(case, targets, h, t)


def of_step(case: str, h: dict, t: dict) -> list[Row]:
    return timed(case, {"eager": ">= 2.5", "graph": ""}, h, t)


def timed(case: str, targets: dict, h: dict, t: dict) -> list[Row]:
    """Each way's times, PyTorch's over those of hotaru's graph."""
    return [
        Row(
            f"{case}: {way}",
            number(h.get(way)),
            number(t.get(way)),
            over(t.get(way), h.get("graph")),
            target,
            of_ratio=True,
        )
        for way, target in targets.items()
    ]


def of_chain(case: str, h: dict, t: dict) -> list[Row]:
    return [
        plain("chain, TB/s read and written once", "chain", h, t),
        plain("copy of the same bytes, TB/s", "copy", h, t),
        both(
            "chain / copy",
            lambda x: over(x.get("chain"), x.get("copy")),
            h,
            t,
            ">= 0.9",
        ),
        plain("kernels of a replay", "kernels", h, t),
    ]


def of_moving(case: str, h: dict, t: dict) -> list[Row]:
    rows = []
    for clock, unit, target in (("host", "ns", "<= 2000"), ("wall", "µs", "")):
        stays, moves = f"{clock} stays", f"{clock} moves"
        rows += [
            plain(f"{clock}, where it was, {unit}", stays, h, t),
            plain(f"{clock}, moved, {unit}", moves, h, t),
            both(
                f"{clock}, more because it moved, {unit}",
                lambda x, a=moves, b=stays: beyond(x.get(a), x.get(b)),
                h,
                t,
                target,
            ),
        ]
    return rows


def of_many(case: str, h: dict, t: dict) -> list[Row]:
    return [
        plain("captures, s", "seconds", h, t, "<= 3"),
        plain("captures and a first replay each, s", "replayed", h, t),
        plain("memory of the largest alone, MiB", "largest", h, t),
        plain("memory of all, MiB", "all", h, t),
        both(
            "all / largest alone",
            lambda x: over(x.get("all"), x.get("largest")),
            h,
            t,
            "<= 1.1",
        ),
        plain("all, and what the driver took, MiB", "device", h, t),
    ]


def of_loader(case: str, h: dict, t: dict) -> list[Row]:
    return [
        plain("captures", "captures", h, t),
        plain("failures", "failures", h, t, "<= 0"),
        plain("batches pinned meanwhile", "batches", h, t),
    ]


KINDS = {
    "replay": of_replay,
    **dict.fromkeys(NETWORKS, of_network),
    **dict.fromkeys(STEPS, of_step),
    "chain": of_chain,
    "moving": of_moving,
    "many": of_many,
    "loader": of_loader,
}


def rows(case: str, hotaru: dict, pytorch: dict) -> list[Row]:
    """Rows that one round of a case gives."""
    return KINDS[case](case, hotaru, pytorch)


def medians(rounds: list[list[Row]]) -> list[Row]:
    """The rows, each number the median of the rounds that have it."""

    def middle(alike, name):
        values = [getattr(row, name) for row in alike]
        values = [v for v in values if v is not None]
        return statistics.median(values) if values else None

    return [
        Row(
            alike[0].label,
            *(middle(alike, name) for name in ("hotaru", "pytorch", "ratio")),
            alike[0].target,
            alike[0].of_ratio,
        )
        for alike in zip(*rounds)
    ]


def text(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def show(title: str, measured: list) -> None:
    """A table of a kind of cases, with why figures are missing below it."""
    print(f"{title:54}{'hotaru':>10}{'PyTorch':>10}{'over':>8}  target")
    for one in measured:
        for row in one.rows():
            figures = f"{text(row.hotaru):>10}{text(row.pytorch):>10}"
            aim = f"{row.target:9}{row.verdict()}".rstrip()
            line = f"  {row.label:52}{figures}{text(row.ratio):>8}  {aim}"
            print(line.rstrip())
    for one in measured:
        for name, why in one.notes().items():
            print(f"  {name}: {why}")
    print(flush=True)
