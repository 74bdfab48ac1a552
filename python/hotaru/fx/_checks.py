"""Checks that graphs are well formed, and removal of what has no effect."""

from __future__ import annotations

import warnings

from ..nn import Module
from .node import Node, map_arg


def lint(graph) -> None:
    """RuntimeError where nodes or the owner's attributes do not fit."""
    seen_names: set[str] = set()
    seen: set[Node] = set()

    def check_argument(arg: Node, node: Node) -> None:
        context = f" of Node '{node}' " if node is not None else " "
        if arg.graph is not graph:
            raise RuntimeError(
                f"Argument '{arg}'{context}does not belong to this Graph, but "
                "was used as an argument! "
                "If you are copying nodes from another graph, make sure to use "
                f"``arg_transform`` on node_copy() to remap values\n{graph}"
            )
        if arg not in seen:
            raise RuntimeError(
                f"Argument '{arg}'{context}was used before it has been "
                "defined! Please check that Nodes in the graph are "
                f"topologically ordered\n{graph}"
            )

    for node in graph.nodes:
        if node.op not in _OPS:
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        map_arg(node.args, lambda arg, node=node: check_argument(arg, node))
        map_arg(node.kwargs, lambda arg, node=node: check_argument(arg, node))
        seen.add(node)
        if node.name in seen_names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        seen_names.add(node.name)
    if graph.owning_module is not None:
        _lint_targets(graph)


_OPS = (
    "placeholder",
    "call_method",
    "call_module",
    "call_function",
    "get_attr",
    "output",
)


def _lint_targets(graph) -> None:
    for node in graph.nodes:
        if node.op not in ("get_attr", "call_module"):
            continue
        if not isinstance(node.target, str):
            raise RuntimeError(f"Node {node} target must be a string")
        found = graph.owning_module
        parts = node.target.split(".")
        for i, part in enumerate(parts):
            present = hasattr(found, part)
            so_far = ".".join(parts[:i])
            if not present:
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent "
                    f"attribute {part} of {so_far}"
                )
            found = getattr(found, part)
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(
                f"Node {node} target {node.target} {part} of {so_far} does not "
                "reference an nn.Module"
            )
        if node.op == "get_attr" and not _is_attribute(graph, found):
            warnings.warn(
                f"Node {node} target {node.target} {part} of {so_far} does not "
                "reference an nn.Module, nn.Parameter, or buffer, which is "
                "what 'get_attr' Nodes typically target",
                stacklevel=4,
            )


def _is_attribute(graph, value) -> bool:
    from .. import Tensor

    return isinstance(value, (Module, Tensor))


def eliminate_dead_code(graph, is_impure_node=None) -> bool:
    """Erases nodes from behind that nobody uses and that do nothing else."""
    graph.lint()
    impure = is_impure_node or (lambda node: node.is_impure())
    changed = False
    for node in reversed(graph.nodes):
        if not impure(node) and not node.users:
            graph.erase_node(node)
            changed = True
    return changed
