"""Patterns of calls in a graph, found and replaced."""

from __future__ import annotations

import dataclasses
import typing

from .. import nn
from ._compatibility import compatibility
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .passes.utils.matcher_utils import SubgraphMatcher

__all__ = [
    "Match",
    "ReplacedPatterns",
    "replace_pattern",
    "replace_pattern_with_filters",
]


@compatibility(is_backward_compatible=True)
class Match(typing.NamedTuple):
    """Where a pattern was: its last node, and what stood for its nodes."""

    anchor: Node
    nodes_map: dict


@compatibility(is_backward_compatible=False)
@dataclasses.dataclass
class ReplacedPatterns:
    """A match, with the nodes that stand there now."""

    anchor: Node
    nodes_map: dict
    replacements: list


@compatibility(is_backward_compatible=True)
def replace_pattern(gm: GraphModule, pattern, replacement) -> list[Match]:
    """Replaces calls that do what `pattern` does by those of `replacement`.

    Both are functions, modules or graphs with the same parameters. A part of
    the graph matches whose calls and constants are those of the pattern, where
    any value may stand for a parameter, and whose values nobody else uses but
    the last. Matches do not overlap. The module is compiled anew.
    """
    replaced = _replace_pattern(gm, pattern, replacement)
    return [Match(r.anchor, r.nodes_map) for r in replaced]


@compatibility(is_backward_compatible=False)
def replace_pattern_with_filters(
    gm: GraphModule,
    pattern,
    replacement=None,
    match_filters=None,
    ignore_literals: bool = False,
    replacement_callback=None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """As replace_pattern, where all filters are true.

    A filter takes the match and the graphs of module and pattern. With
    `ignore_literals` constants need not be equal. `replacement_callback(match,
    graph, pattern graph)` gives the replacement of each match instead. Nodes
    whose names have `node_name_match` in them stand for every node.
    """
    return _replace_pattern(
        gm,
        pattern,
        replacement,
        match_filters,
        ignore_literals,
        replacement_callback,
        node_name_match,
    )


def _graph_of(what) -> Graph:
    if isinstance(what, GraphModule):
        return what.graph
    return what if isinstance(what, Graph) else symbolic_trace(what).graph


def _replace_pattern(
    gm,
    pattern,
    replacement=None,
    match_filters=None,
    ignore_literals=False,
    replacement_callback=None,
    node_name_match="",
) -> list[ReplacedPatterns]:
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(
        pattern_graph,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=ignore_literals,
    )
    matches = [
        match
        for match in matcher.match(graph, node_name_match)
        if all(f(match, graph, pattern_graph) for f in match_filters or ())
    ]
    common = None
    if replacement_callback is None:
        if replacement is None:
            raise AssertionError(
                "Must provide either replacement GraphModule or replacement_callback"
            )
        common = _graph_of(replacement)
    # Nodes that took the place of others that later matches refer to.
    changed: dict[Node, Node] = {}
    replaced = []
    for match in matches:
        graph_of_it = common
        if replacement_callback is not None:
            graph_of_it = replacement_callback(match, graph, pattern_graph)
        replaced.append(
            _replace_match(graph, pattern_graph, graph_of_it, match, changed)
        )
    gm.recompile()
    if isinstance(replacement, nn.Module):
        _take_attributes(gm, replacement)
    return replaced


def _replace_match(graph, pattern, replacement, match, changed: dict):
    values = _inputs(pattern, replacement, match, changed)
    anchor = match.anchors[0]
    users = {user for n in match.returning_nodes for user in n.users}
    first = next((n for n in graph.nodes if n in users), None)
    behind = first if first is not None else graph.output_node()
    with graph.inserting_before(behind):
        results = graph.graph_copy(replacement, values)
    if isinstance(results, Node):
        results = (results,)
    results = tuple(results)
    made = [
        values[n] for n in replacement.nodes if n.op not in ("placeholder", "output")
    ]
    if len(match.returning_nodes) != len(results):
        raise AssertionError(
            f"Returning nodes count mismatch: {len(match.returning_nodes)} vs "
            f"{len(results)}"
        )
    for old, new in zip(match.returning_nodes, results):
        old.replace_all_uses_with(new)
        changed[old] = new
    for node in reversed(list(pattern.nodes)):
        if node.op in ("placeholder", "output"):
            continue
        erased = match.nodes_map[node]
        if not erased._erased and not erased.users:
            graph.erase_node(erased)
    return ReplacedPatterns(anchor, match.nodes_map, made)


def _inputs(pattern, replacement, match, changed: dict) -> dict:
    """Finds what stands for the replacement's placeholders."""
    theirs = [n for n in pattern.nodes if n.op == "placeholder"]
    ours = [n for n in replacement.nodes if n.op == "placeholder"]
    if len(theirs) != len(ours):
        raise AssertionError(
            f"Placeholder count mismatch: {len(theirs)} vs {len(ours)}"
        )
    values = {}
    for of_pattern, node in zip(theirs, ours):
        given = match.nodes_map.get(of_pattern)
        if given is None and node.users:
            raise AssertionError(
                f"{node} is used in the replacement, but not in the pattern"
            )
        is_node = isinstance(given, Node)
        values[node] = changed.get(given, given) if is_node else given
    return values


def _take_attributes(gm: GraphModule, replacement: nn.Module) -> None:
    """Gives the module what the replacement's nodes name; drops the rest."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        found = _attribute(gm, node.target)
        other = _attribute(replacement, node.target)
        if found is None and other is not None:
            _put(gm, node, other)
        elif found is None:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph '
                f"rewriting with target {node.target}, but the referenced "
                "attribute does not exist in the replacement GraphModule"
            )
    gm.graph.lint()


def _attribute(module, target: str):
    for part in target.split("."):
        module = getattr(module, part, None)
        if module is None:
            return None
    return module


def _put(gm: GraphModule, node: Node, value) -> None:
    import copy

    if node.op == "call_module":
        gm.add_submodule(node.target, copy.deepcopy(value))
        return
    path, _, name = node.target.rpartition(".")
    if path and _attribute(gm, path) is None:
        gm.add_submodule(path, nn.Module())
    owner = gm.get_submodule(path)
    setattr(owner, name, copy.deepcopy(value))
