"""A graph of a program, node by node, with whatever stands for tensors.

What numbers, lists and conditions are is known here; what operators on tensors
do, a subclass says.
"""

from __future__ import annotations

from .native import called_graphs

ASKS_VALUE = "it asks for a tensor's value"

__all__ = ["CONSTANT", "NotFollowed", "Walk"]

CONSTANT = "prim::Constant"
_CALL = "prim::CallFunction"
_MAX_TURNS = 100_000


class NotFollowed(RuntimeError):  # noqa: N818 - says what it is
    """A program does what a walk cannot follow."""


class Walk:
    """One walk. Subclasses say what operators do (`operator`), what stands for
    tensors of the program (`held`), and may choose branches (`choose`).
    """

    #: Error that is raised for what cannot be followed.
    refused: type[NotFollowed] = NotFollowed

    def __init__(self) -> None:
        self.values: dict[int, object] = {}
        self._keep: list = []
        self._called: dict = {}  # graphs of functions that stay calls
        self._active: list[int] = []

    def run(self, graph, arguments):
        """The graph's result for these arguments, modules among them."""
        self._keep.append(graph)  # values are known by their ids
        if graph._program is not None and graph.findNode(_CALL) is not None:
            self._called.update(called_graphs(graph._program))
        for value, given in zip(graph.inputs(), arguments, strict=True):
            self.values[id(value)] = given
        out = self.block(graph.block())
        return out[0] if out else None

    def block(self, block) -> list:
        """Runs a block for what it gives; its parameters have their values."""
        # A trace's constants may stand behind what takes them.
        nodes = sorted(block.nodes(), key=lambda n: n.kind() != CONSTANT)
        for node in nodes:
            self.visit(node)
        return [self.values[id(v)] for v in block.outputs()]

    def visit(self, node) -> None:
        """Computes a node's outputs."""
        inputs = [self.values[id(v)] for v in node.inputs()]
        special = _SPECIAL.get(node.kind())
        if special is not None:
            out = special(self, node, inputs)
        else:
            out = self.operator(node, inputs)
        outputs = list(node.outputs())
        if len(outputs) == 1 and not list(node.blocks()):
            out = (out,)
        for value, one in zip(outputs, out or ()):
            self.values[id(value)] = one

    # --- what subclasses say ---

    def operator(self, node, inputs):
        """The result of an operator."""
        raise NotImplementedError

    def held(self, given, what: str):
        """Gives what stands for a tensor that the program has; `what` it is."""
        return given

    def number(self, value):
        """A number as a tensor."""
        raise NotImplementedError

    def class_of(self, value) -> type:
        """The class that a program takes a value for."""
        return value.__class__

    def choose(self, condition, then, otherwise):
        """The results of one of two branches, which are functions."""
        return then() if condition else otherwise()

    def holds(self, condition) -> bool:
        """Tells whether a loop goes on."""
        return bool(condition)

    # --- what is no operator ---

    def _constant(self, node, inputs):
        if not node.hasAttribute("value"):
            return None
        value = node.value("value")
        if _is_tensor(value):
            return self.held(value, "a tensor from outside of the program")
        if str(node.output().type()) == "bool":
            return bool(value)
        # Lists are copied: code may change its own.
        return list(value) if isinstance(value, list) else value

    def _attribute(self, node, inputs):
        name = node.s("name")
        value = _looked_up(inputs[0], name)
        if _is_tensor(value):
            return self.held(value, f"the attribute {name!r}")
        return list(value) if isinstance(value, list) else value

    def _set_attribute(self, node, inputs):
        raise self.refused("it changes an attribute of a module")

    def _raises(self, node, inputs):
        raise self.refused("the program raises an error")

    def _if(self, node, inputs):
        then, otherwise = node.blocks()
        return self.choose(
            inputs[0], lambda: self.block(then), lambda: self.block(otherwise)
        )

    def _loop(self, node, inputs):
        (body,) = node.blocks()
        limit, goes_on, *states = inputs
        turn = 0
        while turn < limit and self.holds(goes_on):
            if turn > _MAX_TURNS:
                raise self.refused(f"more than {_MAX_TURNS} turns")
            params = list(body.inputs())
            for param, value in zip(params, [turn, *states]):
                self.values[id(param)] = value
            goes_on, *states = self.block(body)
            turn += 1
        return states

    def _function(self, node, inputs):
        called = self._called.get(node._callee)
        if called is None or node._callee in self._active:
            raise self.refused("a function that calls itself")
        self._active.append(node._callee)
        try:
            return self.run(called, inputs[1:])
        finally:
            self._active.pop()

    def _method(self, node, inputs):
        method = _looked_up(inputs[0], node.s("name"))
        return self.run(method.inlined_graph, inputs)

    def _dict(self, node, inputs):
        return dict(zip(inputs[::2], inputs[1::2]))

    def _number(self, node, inputs):
        return self.number(inputs[0])


def _looked_up(owner, name: str):
    """The program's attribute or method, whose name may be that of one of the
    Python class.
    """
    native = getattr(owner, "__dict__", {}).get("_c")
    if native is not None and hasattr(type(owner), name):
        if native.has_attribute(name):
            return native.attribute(name)
        if native.has_method(name):
            return native.method(name)
    return getattr(owner, name)


def _is_tensor(value) -> bool:
    from ... import Tensor

    return isinstance(value, Tensor)


def _list(walk, node, inputs):
    return list(inputs)


def _tuple(walk, node, inputs):
    return tuple(inputs)


def _items(walk, node, inputs):
    items = list(inputs[0])
    return items[0] if node.outputsSize() == 1 else items


def _first(walk, node, inputs):
    return inputs[0]


def _item(walk, node, inputs):
    return inputs[0][inputs[1]]


def _is_instance(walk, node, inputs):
    return any(_is_a(walk, inputs[0], type) for type in node.tys("types"))


# Classes of what types of numbers and containers stand for.
_CLASSES = {
    "IntType": int,
    "FloatType": float,
    "BoolType": bool,
    "StringType": str,
    "NoneType": type(None),
    "ComplexType": complex,
    "ListType": list,
    "TupleType": tuple,
    "DictType": dict,
}


def _is_a(walk, value, type) -> bool:
    """Tells whether a value is of a program's type, with what it holds."""
    kind = type.kind()
    if kind == "AnyType":
        return True
    if kind == "TensorType":
        return _is_tensor(value)
    if kind == "OptionalType":
        return value is None or _is_a(walk, value, type.getElementType())
    if kind == "UnionType":
        return any(_is_a(walk, value, each) for each in type.containedTypes())
    if kind not in _CLASSES:
        raise walk.refused(f"it asks whether a value is of type {type}")
    if walk.class_of(value) is not _CLASSES[kind]:
        return False
    if kind == "ListType":
        return all(_is_a(walk, each, type.getElementType()) for each in value)
    if kind == "TupleType":
        kinds = type.elements()
        return len(kinds) == len(value) and all(
            _is_a(walk, each, kind) for each, kind in zip(value, kinds)
        )
    if kind == "DictType":
        return all(
            _is_a(walk, key, type.getKeyType())
            and _is_a(walk, each, type.getValueType())
            for key, each in value.items()
        )
    return True


def _nothing(walk, node, inputs):
    return None


_SPECIAL = {
    CONSTANT: Walk._constant,
    "prim::GetAttr": Walk._attribute,
    "prim::SetAttr": Walk._set_attribute,
    "prim::RaiseException": Walk._raises,
    "prim::CallMethod": Walk._method,
    _CALL: Walk._function,
    "prim::If": Walk._if,
    "prim::Loop": Walk._loop,
    "prim::ListConstruct": _list,
    "prim::TupleConstruct": _tuple,
    "prim::DictConstruct": Walk._dict,
    "prim::ListUnpack": _items,
    "prim::TupleUnpack": _items,
    "prim::TupleIndex": _item,
    "prim::unchecked_cast": _first,
    "prim::isinstance": _is_instance,
    "prim::NumToTensor": Walk._number,
    "prim::Uninitialized": _nothing,
    "prim::Print": _nothing,
    "aten::warn": _nothing,
    "aten::scalar_to_tensor": Walk._number,
}
