"""Graphs that functions and modules show: one object as long as it is held."""

from __future__ import annotations

import weakref


def graph_of(function, inlined: bool = False):
    """The graph of a function or method, made anew."""
    from ._ir import graph_of as made

    return made(function, inlined)


def shown_graph(owner, function, name: str = ""):
    """The graph of a function or method: one object as long as somebody has it
    or a pass has changed it.
    """
    shown = vars(owner).setdefault("_shown_graphs", {})
    held = shown.get(name)
    graph = held() if isinstance(held, weakref.ref) else held
    if graph is None:
        # A frozen module's is the one that is optimised, calls inlined.
        numerics = vars(owner).get("_frozen_numerics")
        graph = graph_of(function, inlined=numerics is not None)
        graph._owner, graph._name = weakref.ref(owner), name
        shown[name] = weakref.ref(graph)
        if numerics is not None:
            from ._passes.frozen import optimized

            optimized(graph, numerics)
    return graph


# Modules whose methods were asked for, by the methods' ids.
_OWNERS: dict[int, weakref.ref] = {}


def known_owner(method, owner) -> None:
    """Remembers whose method it is; the owner has it as long as it lives."""
    number = id(method)
    _OWNERS[number] = weakref.ref(owner, lambda _: _OWNERS.pop(number, None))


def method_graph(method):
    """As `shown_graph`, of a method of a module that Python has."""
    held = _OWNERS.get(id(method))
    owner = held() if held is not None else None
    if owner is None or vars(owner).get(method.name) is not method:
        return graph_of(method)
    return shown_graph(owner, method, method.name)
