"""From script IR to StableHLO: an inlined graph, node by node.

Shapes are known, so sizes, lists and conditions on them are computed here:
branches that are not taken and loops leave no trace. What depends on no
argument and no parameter is computed here as well.
"""

from __future__ import annotations

from .. import Tensor, ops, tensor
from .._function_schema import parse_schema
from ..jit._ir.native import called_graphs
from ..nn import Module
from . import scalars, table
from .values import NotWritten, Val, dtype_of
from .writer import Writer

_CONSTANT = "prim::Constant"
_CALL = "prim::CallFunction"
_MAX_TURNS = 100_000
# They give what they were given, whatever their schema says.
_SAME = {"dropout", "feature_dropout", "alpha_dropout", "detach"}


class _Leaving(Exception):  # noqa: N818 - no error
    """What ends a block before its end."""

    def __init__(self, values) -> None:
        self.values = values


class _Return(_Leaving):
    """A function's result."""


class _Break(_Leaving):
    """A loop's states behind it."""


class _Continue(_Leaving):
    """A loop's states for its next turn."""


class Walk:
    """One program that is written.

    Args:
        places: lines of the user's program for lines of a trace.
    """

    def __init__(self, writer: Writer, places=None) -> None:
        self.writer = writer
        self._places = places
        self._values: dict[int, object] = {}
        self._tensors: dict[int, Val] = {}
        self._keep: list = []
        self._called: dict = {}  # graphs of functions that stay calls
        self._active: list[int] = []

    def run(self, graph, arguments):
        """The graph's result for these arguments, modules among them."""
        self._keep.append(graph)  # values are known by their ids
        if graph._program is not None and graph.findNode(_CALL) is not None:
            self._called.update(called_graphs(graph._program))
        for value, given in zip(graph.inputs(), arguments, strict=True):
            self._values[id(value)] = given
        try:
            out = self._block(graph.block())
        except _Return as leaving:
            out = leaving.values
        return out[0] if out else None

    def _block(self, block) -> list:
        # A trace's constants may stand behind what takes them.
        nodes = sorted(block.nodes(), key=lambda n: n.kind() != _CONSTANT)
        for node in nodes:
            try:
                self._node(node)
            except NotWritten as error:
                raise self._placed(error, node) from None
            except (IndexError, KeyError, TypeError, ValueError) as error:
                text = f"{type(error).__name__}: {error}"
                raise self._placed(NotWritten(text), node) from error
        return [self._values[id(v)] for v in block.outputs()]

    def _placed(self, error: NotWritten, node) -> NotWritten:
        """With the operator's name and line, if it has none yet."""
        if getattr(error, "placed", False):
            return error
        name = (node._schema or node.kind()).partition("(")[0]
        out = NotWritten(f"{name}{self._where(node)}: {error}")
        out.placed = True
        return out

    def _where(self, node) -> str:
        if not node._place:
            return ""
        file, line = node._place[:2]
        if file.startswith("<__torch__") and self._places is not None:
            found = self._places(line)
            if found is None:
                return ""
            file, line = found
        return f' at File "{file}", line {line}'

    def _node(self, node) -> None:
        inputs = [self._values[id(v)] for v in node.inputs()]
        kind = node.kind()
        special = _SPECIAL.get(kind)
        if special is not None:
            out = special(self, node, inputs)
        elif node._schema is not None and kind.startswith("aten::"):
            out = self._operator(node, inputs)
        else:
            out = self._other(kind, inputs)
        outputs = list(node.outputs())
        if len(outputs) == 1 and not list(node.blocks()):
            out = (out,)
        for value, one in zip(outputs, out or ()):
            self._values[id(value)] = one

    def _other(self, kind: str, inputs):
        base = kind.partition("::")[2]
        known, out = scalars.asked(base, inputs)
        if known:
            return out
        if any(map(_has_tensor, inputs)):
            raise NotWritten("the xla backend has no row for it")
        return scalars.compute(base, inputs)

    # --- operators ---

    def _operator(self, node, inputs):
        base = node.kind().partition("::")[2]
        known, out = scalars.asked(base, inputs)
        if known:
            return out
        schema = parse_schema(node._schema)
        gives = any("Tensor" in str(r.type) for r in schema.returns)
        if not any(map(_has_tensor, inputs)) and not gives:
            return scalars.compute(base, inputs)
        if base in scalars.CONTAINERS and (
            isinstance(inputs[0], (list, tuple, dict))
        ):
            return scalars.TABLE[base](*inputs)
        if base in ("__is__", "__isnot__"):
            return scalars.TABLE[base](*inputs)
        if self._known(node, inputs):
            return self._computed(node, schema, inputs)
        if base in scalars.VALUES:
            raise NotWritten("it asks for a tensor's value")
        names = tuple(a.name for a in schema.arguments)
        function, writes = table.find(node.kind(), names)
        out = function(self.writer, **dict(zip(names, inputs)))
        if writes:
            self.writer.write(inputs[0], out)
            return inputs[0]
        shares = base in _SAME or "(a" in node._schema
        if not shares and any(out is given for given in inputs):
            # A tensor of its own in PyTorch.
            return Val(self.writer.use(out), out.shape, out.dtype)
        return out

    def _known(self, node, inputs) -> bool:
        """Whether the result can be computed now, as one of its own."""
        tensors = list(_tensors(inputs))
        if any(t.const is None or t.given for t in tensors):
            return False
        return "!" not in node._schema and (
            not tensors or "(a" not in node._schema
        )

    def _computed(self, node, schema, inputs):
        if _draws(node.kind()):
            raise NotWritten("it draws random numbers")
        name = node._schema.partition("(")[0].partition("::")[2]
        base, _, overload = name.partition(".")
        args, kwargs = [], {}
        for argument, value in zip(schema.arguments, inputs):
            value = _held(value)
            if "ScalarType" in str(argument.real_type):
                value = dtype_of(value)
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        try:
            if base == "tensor":  # only scripts have it as an operator
                return self._constants(tensor(*args, **kwargs))
            operator = getattr(getattr(ops.aten, base), overload or "default")
            return self._constants(operator(*args, **kwargs))
        except (AttributeError, NotImplementedError, RuntimeError) as error:
            raise NotWritten(f"it cannot be computed: {error}") from error

    def _constants(self, value):
        if isinstance(value, Tensor):
            if not value.is_cpu:
                raise NotWritten(f"a tensor on {value.device}")
            return Val(None, value.shape, value.dtype, value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._constants(v) for v in value)
        return value

    def held(self, given: Tensor, what: str) -> Val:
        """The value of a parameter or of another tensor that there is."""
        if not given.is_cpu:
            raise NotWritten(f"{what} on {given.device}")
        known = self._tensors.get(id(given))
        if known is None:
            known = Val(None, given.shape, given.dtype)
            known.origin = given
            known.given = what
            self._tensors[id(given)] = known
            self._keep.append(given)
        return known

    # --- what is no operator ---

    def _constant(self, node, inputs):
        if not node.hasAttribute("value"):
            return None
        value = node.value("value")
        if isinstance(value, Tensor):
            return self.held(value, "a tensor from outside of the program")
        if str(node.output().type()) == "bool":
            return bool(value)
        # Lists are copied: code may change its own.
        return list(value) if isinstance(value, list) else value

    def _attribute(self, node, inputs):
        name = node.s("name")
        value = getattr(inputs[0], name)
        if isinstance(value, Tensor):
            return self.held(value, f"the attribute {name!r}")
        if isinstance(value, Module):
            return value
        return list(value) if isinstance(value, list) else value

    def _refused(self, node, inputs):
        raise NotWritten("it changes an attribute of a module")

    def _raises(self, node, inputs):
        raise NotWritten("the program raises an error")

    def _if(self, node, inputs):
        if isinstance(inputs[0], Val):
            raise NotWritten("it asks for a tensor's value")
        blocks = list(node.blocks())
        return self._block(blocks[0] if inputs[0] else blocks[1])

    def _loop(self, node, inputs):
        (body,) = node.blocks()
        limit, goes_on, *states = inputs
        turn = 0
        while turn < limit and goes_on:
            if turn > _MAX_TURNS:
                raise NotWritten(f"more than {_MAX_TURNS} turns")
            params = list(body.inputs())
            for param, value in zip(params, [turn, *states]):
                self._values[id(param)] = value
            try:
                goes_on, *states = self._block(body)
            except _Break as leaving:
                return leaving.values
            except _Continue as leaving:
                states = leaving.values
                goes_on = self._values.get(id(next(body.outputs())))
                if goes_on is not True:
                    raise NotWritten("continue in a while") from None
            if isinstance(goes_on, Val):
                raise NotWritten("it asks for a tensor's value")
            turn += 1
        return states

    def _function(self, node, inputs):
        called = self._called.get(node._callee)
        if called is None or node._callee in self._active:
            raise NotWritten("a function that calls itself")
        self._active.append(node._callee)
        try:
            return self.run(called, inputs[1:])
        finally:
            self._active.pop()

    def _method(self, node, inputs):
        method = getattr(inputs[0], node.s("name"))
        return self.run(method.inlined_graph, inputs)

    def _dict(self, node, inputs):
        return dict(zip(inputs[::2], inputs[1::2]))

    def _number(self, node, inputs):
        return self._constants(tensor(inputs[0]))


def _leaving(kind):
    def leave(walk, node, inputs):
        raise kind(inputs)

    return leave


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


def _nothing(walk, node, inputs):
    return None


_SPECIAL = {
    _CONSTANT: Walk._constant,
    "prim::GetAttr": Walk._attribute,
    "prim::SetAttr": Walk._refused,
    "prim::RaiseException": Walk._raises,
    "prim::CallMethod": Walk._method,
    _CALL: Walk._function,
    "prim::ReturnStmt": _leaving(_Return),
    "prim::BreakStmt": _leaving(_Break),
    "prim::ContinueStmt": _leaving(_Continue),
    "prim::If": Walk._if,
    "prim::Loop": Walk._loop,
    "prim::ListConstruct": _list,
    "prim::TupleConstruct": _tuple,
    "prim::DictConstruct": Walk._dict,
    "prim::ListUnpack": _items,
    "prim::TupleUnpack": _items,
    "prim::TupleIndex": _item,
    "prim::unchecked_cast": _first,
    "prim::NumToTensor": Walk._number,
    "prim::Uninitialized": _nothing,
    "prim::Print": _nothing,
    "aten::warn": _nothing,
    "aten::scalar_to_tensor": Walk._number,
}


def _tensors(values):
    for value in values:
        if isinstance(value, Val):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())


def _has_tensor(value) -> bool:
    return next(_tensors((value,)), None) is not None


def _held(value):
    if isinstance(value, Val):
        return value.const
    if isinstance(value, (list, tuple)):
        return type(value)(_held(v) for v in value)
    return value


def _draws(kind: str) -> bool:
    base = kind.partition("::")[2].partition("_like")[0]
    return base.startswith("rand") or base in (
        "normal", "bernoulli", "multinomial", "poisson", "uniform",
    )  # fmt: skip
