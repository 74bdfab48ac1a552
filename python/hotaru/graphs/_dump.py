"""Graphs as drawings and traces."""

from __future__ import annotations

import json
import os
from collections import Counter

from .._extension.new_file import new_file


def dump(graph, path, verbose: bool) -> None:
    """Writes Graphviz, or a Chrome trace if the path ends in .json."""
    path = os.fspath(path)
    if path.endswith(".json"):
        text = json.dumps(chrome_trace(graph))
    else:
        text = dot(graph, verbose)
    with new_file(path, "w", encoding="utf-8") as file:
        file.write(text)


def dot(graph, verbose: bool = True) -> str:
    """The calls as boxes; an edge leads from the writer of a value to each
    reader. Values that come from outside are ellipses.
    """
    nodes, plan = graph._nodes(), graph._plan()
    recorded = graph._recorded()
    title = (
        f"captured: {_counts(recorded)}\\n"
        f"run: {_counts([name for name, _ in nodes])}\\n"
        f"intermediate values: {plan['nbytes']} bytes for {plan['total']}"
    )
    lines = ["digraph {", f'  label="{title}"', "  node [shape=box]"]
    writer: dict[int, str] = {}
    outside: dict[int, str] = {}
    for i, (name, operands) in enumerate(nodes):
        me = f"n{i}"
        label = name
        if verbose:
            written = [_value(o) for o in operands if "w" in o[1]]
            label += "".join(f"\\n{text}" for text in written)
        lines.append(f'  {me} [label="{label}"]')
        seen = set()
        for operand in operands:
            key, access = operand[0], operand[1]
            # A write follows whoever wrote the storage before.
            source = writer.get(key)
            if source is None and "r" in access:
                source = outside.get(key)
                if source is None:
                    source = outside[key] = f"v{len(outside)}"
                    lines.append(
                        f'  {source} [shape=ellipse label="{_value(operand)}"]'
                    )
            if source is not None and source != me and source not in seen:
                seen.add(source)
                lines.append(f"  {source} -> {me}")
        for operand in operands:
            if "w" in operand[1]:
                writer[operand[0]] = me
    return "\n".join([*lines, "}", ""])


def _counts(names: list[str]) -> str:
    counts = Counter(names).most_common()
    inner = ", ".join(f"{n} {name}" for name, n in counts)
    return f"{len(names)} calls ({inner})"


def _value(operand: tuple) -> str:
    _, _, shape, dtype, _, place = operand
    if dtype is None:
        return "generator"
    text = f"{str(dtype).rpartition('.')[2]} {list(shape)}"
    return text if place is None else f"{text} at {place}"


def chrome_trace(graph) -> dict:
    """One replay: a row of calls with their times and shapes."""
    times, nodes = graph._timed_replay(), graph._nodes()
    first = times[0][0] if times else 0
    events = [
        {
            "ph": "X",
            "name": name,
            "cat": "kernel",
            "pid": 0,
            "tid": 0,
            "ts": (start - first) / 1e3,
            "dur": duration / 1e3,
            "args": {"node": i, "operands": [f"{o[1]} {_value(o)}" for o in operands]},
        }
        for i, ((name, operands), (start, duration)) in enumerate(zip(nodes, times))
    ]
    return {"traceEvents": events, "displayTimeUnit": "ns"}
