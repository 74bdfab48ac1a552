"""Circles in a graph of files or modules."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping


def circles(graph: Mapping[Hashable, Iterable]) -> list[list]:
    """A circle for each edge that leads back, in a depth-first walk: the nodes
    in order, the first one again at the end. Empty if there is none.
    """
    found = []
    done: set = set()
    for start in graph:
        if start in done:
            continue
        path = [start]
        pending = [iter(graph[start])]
        while pending:
            target = next(pending[-1], None)
            if target is None:
                done.add(path.pop())
                pending.pop()
            elif target in path:
                found.append([*path[path.index(target) :], target])
            elif target not in done:
                path.append(target)
                pending.append(iter(graph.get(target, ())))
    return found
