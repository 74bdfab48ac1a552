"""Facts of tensors, carried from a program's parameters to its results.

An operator runs on tensors without memory ("meta") that have what is known of
its inputs; what does not follow from it stays unknown.
"""

from __future__ import annotations

import itertools

import hotaru

from ..._types import (
    SCALAR_TYPES,
    BoolType,
    FloatType,
    IntType,
    Known,
    ListType,
    OptionalType,
    TensorType,
    Type,
)
from .._ir.aliases import Aliases, schema_of, written
from .._ir.arithmetic import TABLE
from .calls import call
from .places import device_of

ALL = Known._fields
_UNKNOWN = object()
_NUMBERS = {"int": 1, "float": 1.0, "bool": True, "Scalar": 1}
_NUMBER_TENSORS = {"int": "Long", "float": "Double", "bool": "Bool"}
# Results whose values decide their sizes: by how many dimensions they have.
_COUNTED = {"aten::masked_select": 1, "aten::nonzero": 2}
_NO_RANK = ("aten::squeeze", "aten::flatten", "aten::squeeze_")
_THROUGH = ("prim::unchecked_cast", "prim::unchecked_unwrap_optional")
_SMALL = 1 << 16  # elements of an example that has memory
# Numbers of dimensions, in turns for the inputs that have any number.
_GUESSES = ((0,), (1,), (2,), (3,), (4,), (0, 2), (2, 0))
_TURNS = 8  # of a loop, until what its turns have in common is found


def erase(graph) -> None:
    """Every tensor is any tensor."""
    for value in graph._values():
        value._type = _erased(value._type)


def _erased(type: Type) -> Type:
    if isinstance(type, TensorType):
        return TensorType.get()
    if isinstance(type, (ListType, OptionalType)):
        return type.__class__(_erased(type.getElementType()))
    return type


def in_common(a: Type, b: Type) -> Type:
    """Facts that hold for both; `b` where one is no tensor."""
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return b
    parts = [x if x == y else None for x, y in zip(a._known, b._known)]
    ours, theirs = a._known.sizes, b._known.sizes
    if ours is not None and theirs is not None and len(ours) == len(theirs):
        sizes = tuple(m if m == n else None for m, n in zip(ours, theirs))
        parts[Known._fields.index("sizes")] = sizes
    return TensorType(Known(*parts))


class Facts:
    """One pass over a graph that says more about its tensors.

    Args:
        graph: its values get new types.
        kinds: fields of `Known` that are carried.
        ranks: of sizes only how many there are.
    """

    def __init__(self, graph, kinds=ALL, ranks: bool = False) -> None:
        self._kinds, self._ranks = frozenset(kinds), ranks
        self._known: dict[int, object] = {}  # numbers and lists, by value
        self._resized: set[int] = set()
        self._guess: tuple | None = None
        self._ranks_guessed = iter(())
        self._aliases = Aliases(graph)
        for node in graph._all_nodes():
            self._note_resized(node)
        for value in graph.inputs():
            self._set(value, value._type)
        self._block(graph.block())

    def _note_resized(self, node) -> None:
        kind = node.kind()
        if kind in ("aten::resize_", "aten::resize_as_", "aten::set_"):
            values = node._inputs[:1]
        else:
            schema = schema_of(node) if kind.startswith("aten::") else None
            arguments = schema.arguments if schema is not None else ()
            values = [v for a, v in zip(arguments, node._inputs) if a.is_out]
        self._resized |= {self._aliases.of(value) for value in values}

    def _block(self, block) -> None:
        for node in block.nodes():
            self._node(node)

    def _set(self, value, type: Type) -> None:
        if isinstance(type, TensorType) and self._aliases.of(value) in self._resized:
            type = TensorType.get()
        value._type = type

    # --- what is no operator ---

    def _node(self, node) -> None:
        kind = node.kind()
        if kind == "prim::Constant":
            self._constant(node)
        elif kind == "prim::If":
            self._if(node)
        elif kind == "prim::Loop":
            self._loop(node)
        elif kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            self._known[id(node.output())] = list(node._inputs)
        elif kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            values = self._known.get(id(node.input()))
            if isinstance(values, list) and len(values) == node.outputsSize():
                for out, value in zip(node.outputs(), values):
                    self._same(out, value)
        elif kind in _THROUGH:
            self._same(node.output(), node.inputsAt(0))
        elif kind == "prim::NumToTensor":
            name = _NUMBER_TENSORS.get(node.input().type().str())
            cpu = hotaru.device("cpu")
            self._give(node.output(), Known(name, (), (), False, cpu))
        else:
            self._operator(node)

    def _constant(self, node) -> None:
        value = node.output().toIValue()
        if isinstance(value, hotaru.Tensor):
            known = TensorType.create_from_tensor(value)._known
            self._give(node.output(), known)
        else:
            self._known[id(node.output())] = value

    def _same(self, out, value) -> None:
        if isinstance(out.type(), TensorType):
            if isinstance(value.type(), TensorType):
                self._give(out, value.type()._known)
        elif id(value) in self._known:
            self._known[id(out)] = self._known[id(value)]

    def _if(self, node) -> None:
        then, otherwise = node.blocks()
        self._block(then)
        self._block(otherwise)
        for out, a, b in zip(node.outputs(), then.outputs(), otherwise.outputs()):
            if isinstance(out.type(), TensorType):
                self._give(out, in_common(a.type(), b.type())._known)

    def _loop(self, node) -> None:
        (body,) = node.blocks()
        params = list(body.inputs())[1:]
        carried = node._inputs[2:]
        tensors = [isinstance(p.type(), TensorType) for p in params]
        for param, value, is_tensor in zip(params, carried, tensors):
            if is_tensor:
                self._set(param, value.type())
        for _ in range(_TURNS):
            self._block(body)
            gives = list(body.outputs())[1:]
            changed = False
            for param, give, is_tensor in zip(params, gives, tensors):
                both = in_common(param.type(), give.type()) if is_tensor else None
                if is_tensor and both != param.type():
                    self._set(param, both)
                    changed = True
            if not changed:
                break
        for out, param, is_tensor in zip(node.outputs(), params, tensors):
            if is_tensor:
                self._set(out, param.type())

    # --- operators ---

    def _give(self, value, known: Known) -> None:
        """Adds to what the value's type says, of the kinds that are carried."""
        have = value.type()._known if isinstance(value.type(), TensorType) else Known()
        fields = {k: v for k, v in known._asdict().items() if k in self._kinds}
        if self._ranks:
            fields["strides"] = None
            if fields.get("sizes") is not None:
                fields["sizes"] = (None,) * len(fields["sizes"])
        self._set(value, TensorType(have._replace(**fields)))

    def _operator(self, node) -> None:
        schema = schema_of(node)
        if schema is None:
            self._number(node)
            return
        outputs = list(node.outputs())
        tensors = [isinstance(o.type(), TensorType) for o in outputs]
        if not any(tensors) and not isinstance(outputs[0].type(), ListType):
            self._number(node)
            return
        known = self._common(node, schema)
        for out, one, is_tensor in zip(outputs, self._results(node, schema), tensors):
            if is_tensor:
                sizes, strides, name = one
                self._give(
                    out, known._replace(sizes=sizes, strides=strides, scalar_type=name)
                )
        if written(node) and outputs and tensors[0]:
            self._give(node._inputs[0], outputs[0].type()._known)

    def _common(self, node, schema) -> Known:
        """Facts that all results share: the device and whether they need gradients."""
        inputs = self._tensors(node)
        device = device_of(node, schema, inputs, self._constants(node, schema))
        quiet = all(t._known.requires_grad is False for t in inputs)
        return Known(device=device, requires_grad=False if quiet else None)

    def _tensors(self, node) -> list[TensorType]:
        found = []
        for value in node._inputs:
            items = self._known.get(id(value))
            if isinstance(value.type(), TensorType):
                found.append(value.type())
            elif isinstance(items, list):
                types = [v.type() for v in items if hasattr(v, "_node")]
                found += [t for t in types if isinstance(t, TensorType)]
            elif id(value) not in self._known and _holds_tensors(value.type()):
                found.append(TensorType.get())
        return found

    def _constants(self, node, schema) -> dict:
        """Arguments that are no tensors, by name; those not known are left out."""
        out = {}
        for argument, value in zip(schema.arguments, node._inputs):
            known = self._value(value)
            if known is not _UNKNOWN:
                out[argument.name] = known
        return out

    def _value(self, value):
        """A number, a list of numbers and so on that is known, or _UNKNOWN."""
        known = self._known.get(id(value), _UNKNOWN)
        if isinstance(known, list):
            known = [self._value(v) if hasattr(v, "_node") else v for v in known]
            return _UNKNOWN if any(v is _UNKNOWN for v in known) else known
        return known

    def _number(self, node) -> None:
        """Computes what is no tensor, where its inputs are known."""
        if node.outputsSize() != 1:
            return
        kind, out = node.kind(), node.output()
        rest = [self._value(v) for v in node._inputs[1:]]
        first = node._inputs[0] if node._inputs else None
        if first is not None and isinstance(first.type(), TensorType):
            sizes, dim = first.type().sizes(), first.type().dim()
            if kind == "aten::dim" and dim is not None:
                self._known[id(out)] = dim
            elif kind == "aten::size" and sizes is not None and "sizes" in self._kinds:
                if rest and isinstance(rest[0], int) and -dim <= rest[0] < dim:
                    self._known[id(out)] = sizes[rest[0]]
                elif not rest:
                    self._known[id(out)] = sizes
            return
        inputs = [self._value(v) for v in node._inputs]
        rule = TABLE.get(kind.partition("::")[2])
        if rule is None or written(node) or any(v is _UNKNOWN for v in inputs):
            return
        try:
            self._known[id(out)] = rule(*inputs)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return

    def _results(self, node, schema):
        """Sizes, strides and the scalar type's name of every result."""
        nothing = [(None, None, None)] * node.outputsSize()
        try:
            exact, results = self._ran(node, schema)
        except _NotKnown:
            return self._dtypes_alone(node, schema) or nothing
        except Exception:  # an operator that these inputs are no inputs of
            counted = _COUNTED.get(node.kind())
            known = node.inputsAt(0).type() if counted and node._inputs else None
            if isinstance(known, TensorType):
                return [((None,) * counted, None, known.scalarType())]
            return nothing
        results = results if isinstance(results, (tuple, list)) else [results]
        return [self._facts(node, r, exact) for r in results] or nothing

    def _dtypes_alone(self, node, schema):
        """The scalar types, if they are the same however many dimensions the
        inputs have of which that is not known.
        """
        unknown = [t for t in self._tensors(node) if t.dim() is None]
        if not unknown or any(t.scalarType() is None for t in unknown):
            return None
        found = set()
        try:
            for self._guess in _GUESSES:
                try:
                    _, results = self._ran(node, schema)
                except RuntimeError:
                    continue
                many = isinstance(results, (tuple, list))
                found.add(tuple(map(_name_of, results if many else [results])))
        except Exception:  # no guess is an input
            return None
        finally:
            self._guess = None
        if len(found) != 1:
            return None
        return [(None, None, name) for name in found.pop()]

    def _ran(self, node, schema):
        """The operator's results, and whether their sizes are the program's."""
        self._guessed()
        arguments, exact = self._examples(node, schema, "meta")
        try:
            return exact, call(schema, arguments, "meta")
        except RuntimeError:
            # An operator that wants memory gets little of it.
            most = max((t.numel() for t in arguments if _is_tensor(t)), default=0)
            self._guessed()
            arguments, _ = self._examples(node, schema, "cpu")
            if most > _SMALL:
                raise
            return exact, call(schema, arguments, "cpu")

    def _guessed(self) -> None:
        self._ranks_guessed = itertools.cycle(self._guess or ())

    def _facts(self, node, result, exact: bool):
        if not isinstance(result, hotaru.Tensor):
            return None, None, None
        sizes = strides = None
        if exact:
            sizes, strides = tuple(result.shape), tuple(result.stride())
        elif node.kind() not in _NO_RANK:
            sizes = (None,) * result.dim()
        has_dtypes = all(t.scalarType() for t in self._tensors(node))
        name = _name_of(result)
        return sizes, strides, name if has_dtypes else None

    def _examples(self, node, schema, device: str):
        """Arguments to run the operator with, and whether they are exact."""
        values = node._inputs
        exact = all(t.sizes() is not None for t in self._tensors(node))
        for argument, value in zip(schema.arguments, values):
            known = self._value(value)
            number = argument.type.str().rstrip("?") == "Scalar"
            items = self._known.get(id(value))
            listed = isinstance(items, list) and any(
                hasattr(v, "_node") and isinstance(v.type(), TensorType) for v in items
            )
            if known is _UNKNOWN and not isinstance(value.type(), TensorType):
                exact = exact and (number or listed)

        def example(value):
            return self._example(value, exact, device)

        return list(map(example, values)), exact

    def _example(self, value, exact: bool, device: str):
        type = value.type()
        if isinstance(type, TensorType):
            return self._tensor(type, exact, device)
        known = self._known.get(id(value), _UNKNOWN)
        if isinstance(known, list):
            return [
                self._example(v, exact, device) if hasattr(v, "_node") else v
                for v in known
            ]
        if known is not _UNKNOWN:
            return known
        if isinstance(type, (IntType, FloatType, BoolType)) or type.str() == "Scalar":
            return _NUMBERS[type.str()]
        raise _NotKnown

    def _tensor(self, type: TensorType, exact: bool, device: str):
        if type.dim() is None:
            if self._guess is None:
                raise _NotKnown
            type = type.with_sizes([1] * next(self._ranks_guessed))
        name = type.scalarType()
        if name is None and self._kinds == {"scalar_type"}:
            raise _NotKnown
        dtype = SCALAR_TYPES.get(name, hotaru.float32)
        sizes = type.sizes() if exact else [1] * type.dim()
        strides = type.strides()
        made = {"dtype": dtype, "device": device}
        if exact and strides is not None and len(strides) == len(sizes):
            return hotaru.empty_strided(sizes, strides, **made).zero_()
        return hotaru.zeros(sizes, **made)


def _name_of(result) -> str | None:
    if not isinstance(result, hotaru.Tensor):
        return None
    return TensorType.create_from_tensor(result).scalarType()


def _holds_tensors(type: Type) -> bool:
    return isinstance(type, (ListType, OptionalType)) and isinstance(
        type.getElementType(), TensorType
    )


def _is_tensor(value) -> bool:
    return isinstance(value, hotaru.Tensor)


class _NotKnown(Exception):  # noqa: N818 - no error
    """Raised where an input has no example."""
