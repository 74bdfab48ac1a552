"""Parts of a graph that do what another graph does."""

from __future__ import annotations

import dataclasses
import itertools

from .... import Tensor
from ..._compatibility import compatibility
from ...graph import Graph
from ...node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]


@compatibility(is_backward_compatible=False)
@dataclasses.dataclass
class InternalMatch:
    """A part that matches.

    `anchors` are the last nodes of the pattern, `nodes_map` what stands for
    each of its nodes: a node, or a constant for a placeholder.
    `placeholder_nodes` are those of its placeholders, `returning_nodes` those
    of its results.
    """

    anchors: list
    nodes_map: dict = dataclasses.field(default_factory=dict)
    placeholder_nodes: list = dataclasses.field(default_factory=list)
    returning_nodes: list = dataclasses.field(default_factory=list)
    name_node_map: dict = dataclasses.field(default_factory=dict)


def _attribute(node: Node):
    found = node.graph.owning_module
    for part in node.target.split("."):
        found = getattr(found, part)
    return found


@compatibility(is_backward_compatible=False)
class SubgraphMatcher:
    """Finds a pattern in graphs.

    Without `match_placeholder` any value stands for a placeholder. ValueError
    for a pattern that has nothing to find, or whose output has no inputs.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        if not len(pattern.nodes):
            raise ValueError(
                "SubgraphMatcher cannot be initialized with an empty pattern"
            )
        nodes = list(pattern.nodes)
        for node in nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError(
                    "SubgraphMatcher cannot be initialized with an pattern "
                    "with dead code"
                )
        self.pattern = pattern
        self._name = ""
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        self.pattern_placeholder_nodes = [n for n in nodes if n.op == "placeholder"]
        output = nodes[-1]
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = [output]
        if not match_output:
            self.pattern_anchors = [
                n for n in output.all_input_nodes if len(n.users) == 1
            ]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All matches, in the order in which they end. Nodes whose names have
        `node_name_match` in them stand for every node of the pattern.
        """
        self._name = node_name_match
        candidates = [
            [n for n in graph.nodes if self._are_equal(anchor, n)]
            for anchor in self.pattern_anchors
        ]
        found = []
        for anchors in itertools.product(*candidates):
            match = self._match_from(anchors)
            if match is not None and self._is_contained(match):
                found.append(match)
        if self.remove_overlapping_matches:
            found = self._without_overlaps(found)
        return found

    def _match_from(self, anchors) -> InternalMatch | None:
        match = InternalMatch(list(self.pattern_anchors))
        for pattern_node, node in zip(self.pattern_anchors, anchors):
            if not self._match_nodes(pattern_node, node, match.nodes_map):
                return None
        if not match.nodes_map:
            return None
        nodes = match.nodes_map
        match.placeholder_nodes = [
            nodes[p] for p in self.pattern_placeholder_nodes if p in nodes
        ]
        match.returning_nodes = [nodes[p] for p in self.pattern_returning_nodes]
        return match

    def _is_contained(self, match: InternalMatch) -> bool:
        """True if no value but the results is used elsewhere."""
        inside = {n for n in match.nodes_map.values() if isinstance(n, Node)}
        for pattern_node, node in match.nodes_map.items():
            if pattern_node.op in ("placeholder", "get_attr", "output"):
                continue
            if node in match.returning_nodes or not isinstance(node, Node):
                continue
            if any(user not in inside for user in node.users):
                return False
        return True

    @staticmethod
    def _without_overlaps(matches: list) -> list:
        kept, taken = [], set()
        for match in matches:
            nodes = {
                node
                for pattern_node, node in match.nodes_map.items()
                if pattern_node.op not in ("placeholder", "output")
            }
            if not nodes & taken:
                taken |= nodes
                kept.append(match)
        return kept

    # -- nodes and arguments ---------------------------------------------------

    def _are_equal(self, pattern_node: Node, node: Node) -> bool:
        if pattern_node.op == "placeholder" and not self.match_placeholder:
            return True
        if self._name and self._name in node.name:
            return True
        if pattern_node.op != node.op:
            return False
        if node.op in ("placeholder", "output"):
            return True
        if node.op == "get_attr":
            return self._same_attribute(pattern_node, node)
        return pattern_node.target == node.target

    @staticmethod
    def _same_attribute(pattern_node: Node, node: Node) -> bool:
        ours, theirs = _attribute(pattern_node), _attribute(node)
        if type(ours) is not type(theirs):
            return False
        if isinstance(ours, Tensor):
            return (
                ours.dtype == theirs.dtype
                and ours.shape == theirs.shape
                and bool((ours == theirs).all())
            )
        return True

    def _match_nodes(self, pattern_node, node: Node, nodes: dict) -> bool:
        if pattern_node in nodes:
            return nodes[pattern_node] is node
        if any(node is known for known in nodes.values()):
            return False
        if not self._are_equal(pattern_node, node):
            return False
        before = dict(nodes)
        nodes[pattern_node] = node
        if pattern_node.op == "placeholder":
            return True
        if self._match_calls(pattern_node, node, nodes):
            return True
        nodes.clear()
        nodes.update(before)
        return False

    def _match_calls(self, pattern_node, node: Node, nodes: dict) -> bool:
        ours, theirs = pattern_node, node
        args = (ours.args, theirs.args)
        kwargs = (ours.kwargs, theirs.kwargs)
        if len(args[0]) != len(args[1]) or kwargs[0].keys() != kwargs[1].keys():
            forms = [_by_name(n) for n in (ours, theirs)]
            if None in forms:
                return False
            args, kwargs = ((), ()), tuple(forms)
        if kwargs[0].keys() != kwargs[1].keys():
            return False
        return self._match_values(args[0], args[1], nodes) and all(
            self._match_values(kwargs[0][name], kwargs[1][name], nodes)
            for name in kwargs[0]
        )

    def _match_values(self, ours, theirs, nodes: dict) -> bool:
        if isinstance(ours, Node):
            if isinstance(theirs, Node):
                return self._match_nodes(ours, theirs, nodes)
            return self._match_constant(ours, theirs, nodes)
        if isinstance(theirs, Node):
            return False
        if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
            return len(ours) == len(theirs) and all(
                self._match_values(a, b, nodes) for a, b in zip(ours, theirs)
            )
        if self.ignore_literals:
            return True
        return type(ours) is type(theirs) and ours == theirs

    def _match_constant(self, ours: Node, theirs, nodes: dict) -> bool:
        """Constants stand for placeholders, too."""
        if ours.op != "placeholder":
            return False
        if ours in nodes:
            return nodes[ours] == theirs
        nodes[ours] = theirs
        return True


def _by_name(node: Node) -> dict | None:
    """A call's arguments by name, where its signature is known."""
    if node.op != "call_function":
        return None
    try:
        form = node.normalized_arguments(
            node.graph.owning_module, normalize_to_only_use_kwargs=True
        )
    except RuntimeError:
        return None
    return None if form is None else form.kwargs
