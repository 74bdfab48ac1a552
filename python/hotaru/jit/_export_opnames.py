"""The operators that a compiled module calls."""

from __future__ import annotations

from ._module import ScriptModule

__all__ = ["export_opnames"]


def export_opnames(m: ScriptModule) -> list[str]:
    """The names of the operators that its methods and those of its modules
    call, with their overloads, in alphabetical order: "aten::add.Tensor". Branches
    that never run count for nothing.
    """
    from ._passes.fold import fold

    found: set[str] = set()
    for module in m.modules():
        for method in module._c._get_methods():
            graph = method.inlined_graph.copy()
            fold(graph, numbers_alone=True)
            _collect(graph, found)
    return sorted(found)


def _collect(block, found: set[str]) -> None:
    for node in block.nodes():
        schema = node.schema()
        if schema != "(no schema)":
            found.add(schema.partition("(")[0])
        for inner in node.blocks():
            _collect(inner, found)
