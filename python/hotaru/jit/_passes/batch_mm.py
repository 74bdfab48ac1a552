"""Products of matrices that are computed together: sums of several, and several
that have one side in common.
"""

from __future__ import annotations

from .._ir.aliases import quiet_values
from .._ir.nodes import Node
from .._ir.values import Value
from .clean import unneeded
from .rewriting import remove, replace, rewriting

__all__ = ["batched_mm"]

REDUCE, SIDE = "prim::MMTreeReduce", "prim::MMBatchSide"
_FEWEST = 4  # products of a sum
_MANY = 8  # products with a side in common


def batched_mm(graph) -> bool:
    """Replaces sums of four products or more by one prim::MMTreeReduce, and
    eight products or more with one side in common by a prim::MMBatchSide.
    Matrices that somebody writes to stay where they are. True if there were any.
    """
    with rewriting(graph):
        changed = _Batches(graph).sums()
        changed = _Batches(graph).sides() or changed
        if changed:
            unneeded(graph)
    return changed


class _Batches:
    def __init__(self, graph) -> None:
        self._graph = graph
        self._is_quiet = quiet_values(graph)

    def _is_product(self, node: Node) -> bool:
        if node.kind() != "aten::mm" or len(node._inputs) != 2:
            return False
        return all(map(self._is_quiet, (*node._inputs, *node._outputs)))

    # --- sums ---

    def sums(self) -> bool:
        changed = False
        for block in list(self._graph._blocks()):
            changed = self._sums_of(block) or changed
        return changed

    def _sums_of(self, block) -> bool:
        trees: dict[int, list[Node]] = {}  # products, by the sums
        for node in block._nodes:
            if self._is_product(node):
                trees[id(node)] = [node]
            elif self._is_sum(node):
                sides = [value.node() for value in node._inputs[:2]]
                if all(id(side) in trees for side in sides):
                    parts = [trees[id(side)] for side in sides]
                    trees[id(node)] = parts[0] + parts[1]
        changed = False
        for node in reversed(list(block._nodes)):
            products = trees.get(id(node), ())
            if len(products) < _FEWEST or not node._outputs[0].uses():
                continue
            for side in self._within(node, trees):
                trees.pop(id(side), None)
            self._reduce(node, products)
            changed = True
        return changed

    def _is_sum(self, node: Node) -> bool:
        if node.kind() != "aten::add" or len(node._inputs) != 3:
            return False
        alpha = node._inputs[2].toIValue()
        if isinstance(alpha, bool) or alpha != 1:
            return False
        return all(len(value.uses()) == 1 for value in node._inputs[:2])

    def _within(self, node: Node, trees):
        for value in node._inputs[:2]:
            inner = value.node()
            if id(inner) in trees:
                yield inner
                yield from self._within(inner, trees)

    def _reduce(self, node: Node, products) -> None:
        inputs = [value for product in products for value in product._inputs]
        made = _before(node, REDUCE, inputs, 1)
        replace(node._outputs[0], made._outputs[0])
        remove(node)

    # --- sides ---

    def sides(self) -> bool:
        changed = False
        for block in list(self._graph._blocks()):
            for side in (0, 1):
                groups: dict[int, list[Node]] = {}
                for node in block._nodes:
                    if self._is_product(node):
                        groups.setdefault(id(node._inputs[side]), []).append(node)
                for group in groups.values():
                    changed = self._together(group, side) or changed
        return changed

    def _together(self, group: list[Node], side: int) -> bool:
        first = group[0]
        at = first._block._index(first)
        late = {id(out) for node in first._block._nodes[at:] for out in node._outputs}
        group = [node for node in group if id(node._inputs[1 - side]) not in late]
        if len(group) < _MANY:
            return False
        inputs = [first._inputs[side], *(node._inputs[1 - side] for node in group)]
        made = _before(first, SIDE, inputs, len(group))
        made._values["side"] = ("i", side)
        for node, out in zip(group, made._outputs):
            replace(node._outputs[0], out)
            remove(node)
        return True


def _before(node: Node, kind: str, inputs, count: int) -> Node:
    made = Node(node._block, kind)
    made._inputs, made._place = list(inputs), node._place
    made._outputs = [Value(made) for _ in range(count)]
    node._block._nodes.insert(node._block._index(node), made)
    return made
