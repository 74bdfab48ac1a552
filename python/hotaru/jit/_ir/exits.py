"""Exits from inside of blocks, made results: after it a graph has neither
`return` nor `break` nor `continue`.

Code behind an exit that may happen goes into the branch where it does not, or
into a prim::If on a flag that says so. Values that nobody reads where the flag
is set are prim::Uninitialized.
"""

from __future__ import annotations

from ..._types import BoolType, NoneType, OptionalType, TensorType, Type
from .nodes import Block, Node
from .values import Value

RETURN, TURN = "prim::ReturnStmt", "prim::LoopContinuation"
_LEAVES = ("prim::RaiseException", RETURN, TURN)
_WONT, _MIGHT, _WILL, _THROWS = range(4)

__all__ = ["RETURN", "TURN", "without_exits"]


def without_exits(graph) -> None:
    """Changes the graph, which is not shown to anybody yet.

    Args:
        graph: a prim::LoopContinuation takes the condition of the next turn
            and the loop's states, a prim::ReturnStmt the function's results.
    """
    kinds = {node.kind() for node in graph._all_nodes()}
    top = graph.block()
    if TURN in kinds:
        _Exits(graph, TURN).loops(top)
    raises = any(_leaves(block) for block in graph._blocks())
    if RETURN in kinds or TURN in kinds or raises:
        _Exits(graph, RETURN).function(top)


def _leaves(block: Block) -> bool:
    return any(node.kind() in _LEAVES for node in block._nodes)


class _Way:
    """How a block is left: for certain or perhaps, the flag that tells, and
    what is given then.
    """

    def __init__(self, status: int, flag=None, values=()) -> None:
        self.status, self.flag, self.values = status, flag, list(values)


class _Exits:
    """One kind of exit, turned to results."""

    def __init__(self, graph, kind: str) -> None:
        self._graph, self._kind = graph, kind
        self._constants: dict = {}
        self._hoisted: list[Node] = []

    # --- whole programs ---

    def function(self, top: Block) -> None:
        """Results of the function."""
        values = top._return._inputs
        if values or not _ends(top):
            self._append(top, self._kind, values)
        top._return._inputs = []
        way = self._block(top, [])
        top._return._inputs = way.values
        self._finish(top)

    def loops(self, top: Block) -> None:
        """Every loop's states."""
        for block in list(self._graph._blocks()):
            for node in block._nodes:
                if node.kind() == "prim::Loop":
                    self._loop_states(node)
        self._finish(top)

    def _loop_states(self, node: Node) -> None:
        (body,) = node._blocks
        types = [BoolType.get(), *(v.type() for v in body._param._outputs[1:])]
        if body._return._inputs:
            self._append(body, TURN, body._return._inputs)
        body._return._inputs = []
        way = self._block(body, [])
        body._return._inputs = way.values or list(map(self._nothing, types))

    def _finish(self, top: Block) -> None:
        taken = {id(v) for node in self._graph._all_nodes() for v in node._inputs}
        used = [node for node in self._hoisted if id(node._outputs[0]) in taken]
        top._nodes[:0] = used

    # --- values ---

    def _hoist(self, key, kind: str, type: Type) -> Value:
        if key not in self._constants:
            node = Node(self._graph.block(), kind)
            node._outputs.append(Value(node, type))
            self._hoisted.append(node)
            self._constants[key] = node._outputs[0]
        return self._constants[key]

    def _bool(self, value: bool) -> Value:
        out = self._hoist(value, "prim::Constant", BoolType.get())
        out._node._values["value"] = ("i", int(value))
        return out

    def _nothing(self, type: Type) -> Value:
        return self._hoist(type.str(), "prim::Uninitialized", type)

    def _append(self, block: Block, kind: str, inputs) -> Node:
        node = Node(block, kind)
        node._inputs = list(inputs)
        block._nodes.append(node)
        return node

    @staticmethod
    def _output(node: Node, type: Type) -> Value:
        node._outputs.append(Value(node, type))
        return node._outputs[-1]

    # --- blocks ---

    def _block(self, block: Block, fill) -> _Way:
        """Rewrites the block.

        Args:
            block: its results stay what they are where it is not left.
            fill: results where it is left, None for those that nobody reads.
        """
        for i, node in enumerate(list(block._nodes)):
            kind = node.kind()
            if kind == self._kind:
                del block._nodes[i:]
                self._filled(block, fill)
                return _Way(_WILL, self._bool(True), node._inputs)
            if kind in _LEAVES:
                del block._nodes[i + 1 :]
                self._filled(block, fill)
                return _Way(_THROWS)
            if kind == "prim::If":
                way = self._if(node, block, i, fill)
            elif kind == "prim::Loop" and self._kind == RETURN:
                way = self._loop(node, block, i, fill)
            else:
                continue
            if way is not None:
                return way
        return _Way(_WONT)

    def _filled(self, block: Block, fill) -> None:
        """Gives what nobody reads, for as many results as are expected."""
        owner = block._owner
        kind = owner.kind() if owner is not None else ""
        if kind == "prim::If":
            types = [out.type() for out in owner._outputs]
        elif kind == "prim::Loop":
            params = block._param._outputs[1:]
            types = [BoolType.get(), *(value.type() for value in params)]
        else:
            types = [value.type() for value in block._return._inputs]
        fill = [*fill, *([None] * len(types))]
        block._return._inputs = [f or self._nothing(t) for f, t in zip(fill, types)]

    def _if(self, node: Node, block: Block, i: int, fill) -> _Way | None:
        ways = [self._block(inner, []) for inner in node._blocks]
        found = [way.status for way in ways]
        if _WILL not in found and _MIGHT not in found:
            if found != [_THROWS, _THROWS]:
                return None
            del block._nodes[i + 1 :]
            self._filled(block, fill)
            return _Way(_THROWS)
        rest = block._nodes[i + 1 :]
        if _WONT in found and _WILL in found and (rest or fill):
            return self._into(node, block, i, fill, ways)
        flag, values = self._join(node, ways)
        if _WONT not in found and _MIGHT not in found:
            del block._nodes[i + 1 :]
            self._filled(block, fill)
            return _Way(_WILL, self._bool(True), values)
        return self._guarded(node, block, i, fill, flag, values)

    def _into(self, node: Node, block: Block, i: int, fill, ways) -> _Way:
        """Puts what follows into the branch that goes on."""
        goes = 0 if ways[0].status == _WONT else 1
        branch = node._blocks[goes]
        for out, value in zip(list(node._outputs), branch._return._inputs):
            for user, at in out.uses():
                user._inputs[at] = value
        node._outputs.clear()
        for inner in block._nodes[i + 1 :]:
            inner._block = branch
        branch._nodes += block._nodes[i + 1 :]
        del block._nodes[i + 1 :]
        results = block._return._inputs
        for value in results:
            self._output(node, value.type())
        branch._return._inputs = list(results)
        other = node._blocks[1 - goes]
        other._return._inputs = []
        self._filled(other, fill)
        ways[goes] = self._block(branch, fill)
        block._return._inputs = list(node._outputs)
        flag, values = self._join(node, ways)
        if all(way.status in (_WILL, _THROWS) for way in ways):
            return _Way(_WILL, self._bool(True), values)
        return _Way(_MIGHT, flag, values)

    def _join(self, node: Node, ways: list[_Way]) -> tuple[Value, list[Value]]:
        """Outputs of the prim::If that tell how it was left and with what."""
        some = [way.values for way in ways if way.values]
        types = [_unified(values) for values in zip(*some)]
        certain = all(way.status in (_WILL, _THROWS) for way in ways)
        flag = self._bool(True) if certain else self._output(node, BoolType.get())
        values = [self._output(node, type) for type in types]
        for way, inner in zip(ways, node._blocks):
            given = inner._return._inputs
            if not certain:
                none = self._bool(way.status == _WILL)
                given.append(way.flag if way.flag is not None else none)
            given += way.values or [self._nothing(type) for type in types]
        return flag, values

    def _guarded(self, node, block, i: int, fill, flag, values) -> _Way:
        """Runs what follows where the flag is not set."""
        rest = block._nodes[i + 1 :]
        if not rest and not any(fill):
            return _Way(_MIGHT, flag, values)
        del block._nodes[i + 1 :]
        guard = self._append(block, "prim::If", [flag])
        left, goes = Block(self._graph, guard), Block(self._graph, guard)
        guard._blocks += [left, goes]
        for inner in rest:
            inner._block = goes
        goes._nodes = rest
        for value in block._return._inputs:
            self._output(guard, value.type())
        goes._return._inputs = list(block._return._inputs)
        self._filled(left, fill)
        way = self._block(goes, fill)
        block._return._inputs = list(guard._outputs)
        if way.status == _WONT:
            return _Way(_MIGHT, flag, values)
        ways = [_Way(_WILL, self._bool(True), values), way]
        flag, values = self._join(guard, ways)
        certain = way.status in (_WILL, _THROWS)
        return _Way(_WILL if certain else _MIGHT, flag, values)

    def _loop(self, node: Node, block: Block, i: int, fill) -> _Way | None:
        """A loop that is left ends, and carries the flag and what is given."""
        (body,) = node._blocks
        way = self._block(body, [self._bool(False)])
        if way.status in (_WONT, _THROWS):
            return None
        types = [value.type() for value in way.values]
        none = [self._bool(False), *map(self._nothing, types)]
        given = [way.flag, *way.values]
        outs = []
        for first, value in zip(none, given):
            node._inputs.append(first)
            body._param._outputs.append(Value(body._param, value.type()))
            body._return._inputs.append(value)
            outs.append(self._output(node, value.type()))
        return self._guarded(node, block, i, fill, outs[0], outs[1:])


def _ends(block: Block) -> bool:
    """True if the block's last node leaves it in every case."""
    if not block._nodes:
        return False
    last = block._nodes[-1]
    if last.kind() == "prim::If":
        return all(map(_ends, last._blocks))
    return last.kind() in _LEAVES


def _unified(values) -> Type:
    types = [value.type() for value in values]
    first = types[0]
    if all(type == first for type in types):
        return first
    if all(isinstance(type, TensorType) for type in types):
        return TensorType.get()
    for wide in types:
        if all(type.isSubtypeOf(wide) for type in types):
            return wide
    some = [type for type in types if not isinstance(type, NoneType)]
    if len(some) < len(types) and some:
        return OptionalType(_unified_types(some))
    return first


def _unified_types(types: list[Type]) -> Type:
    return next(
        (wide for wide in types if all(t.isSubtypeOf(wide) for t in types)), types[0]
    )
