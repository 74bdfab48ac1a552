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
    TupleType,
    Type,
    new_symbol,
)
from .._ir.aliases import Aliases, is_random, schema_of, written
from .._ir.arithmetic import TABLE
from .calls import call
from .places import device_of
from .probes import GIVEN, RESHAPED, Symbol, has_symbols, probed, without_symbols

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
        joined: the same operator gives the same new symbols for the same sizes.
    """

    def __init__(
        self, graph, kinds=ALL, ranks: bool = False, joined: bool = False
    ) -> None:
        self._joined: dict[tuple, list] | None = {} if joined else None
        self._kinds, self._ranks = frozenset(kinds), ranks
        self._known: dict[int, object] = {}  # numbers and lists, by value
        self._resized: set[int] = set()
        self._guess: tuple | None = None
        self._numbers: dict[int, int] | None = None  # in place of symbols
        self._late_whole = False  # unknown dtypes are whole, the first's not
        self._has_sizes = "sizes" in self._kinds and not ranks
        self._ranks_guessed = iter(())
        self._aliases = Aliases(graph)
        self._written = {
            self._aliases.of(value)
            for node in graph._all_nodes()
            for value in written(node)
        }
        for node in graph._all_nodes():
            self._note_resized(node)
        for value in graph.inputs():
            if self._has_sizes and isinstance(value._type, TensorType):
                value._type.symbolic_sizes()  # which all that follows shares
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
            out = node.output()
            self._known[id(out)] = list(node._inputs)
            if kind == "prim::TupleConstruct" and type(out._type) is TupleType:
                out._type = TupleType([v.type() for v in node._inputs])
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
        own: set[int] = set()  # symbols of sizes that turns change
        for _ in range(_TURNS):
            self._block(body)
            gives = list(body.outputs())[1:]
            changed = False
            for param, give, is_tensor in zip(params, gives, tensors):
                both = self._turned(param, give, own) if is_tensor else None
                if is_tensor and both._known != param.type()._known:
                    self._set(param, both)
                    changed = True
            if not changed:
                break
        for out, param, is_tensor in zip(node.outputs(), params, tensors):
            if is_tensor:
                known = param.type()._known
                sizes = known.sizes and tuple(
                    None if n in own else n for n in known.sizes
                )
                self._set(out, TensorType(known._replace(sizes=sizes)))

    @staticmethod
    def _turned(param, give, own: set[int]) -> Type:
        """Facts of a state that hold before the turn and behind it."""
        both, before = in_common(param.type(), give.type()), param.type()._known
        if both._known.sizes is None or before.sizes is None:
            return both
        sizes = []
        for old, new in zip(before.sizes, both._known.sizes):
            if new is None and old not in own:
                own.add(new_symbol())
                new = min(own)
            sizes.append(old if new is None else new)
        return TensorType(both._known._replace(sizes=tuple(sizes)))

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
        listed = bool(outputs) and _holds_tensors(outputs[0].type())
        if not any(tensors) and not listed:
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
            dim = first.type().dim()
            sizes = first.type().sizes()
            if self._has_sizes and dim is not None:
                found = first.type().symbolic_sizes()
                sizes = [Symbol(n) if n < 0 else n for n in found]
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
        if has_symbols(inputs):
            return
        try:
            self._known[id(out)] = rule(*inputs)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return

    def _results(self, node, schema):
        """Sizes, strides and the scalar type's name of every result."""
        nothing = [(None, None, None)] * node.outputsSize()
        found = self._symbolic(node, schema) if self._has_sizes else None
        if found is not None:
            return [(sizes, None, None) for sizes in found]
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

    def _symbolic(self, node, schema):
        """Sizes of every result where inputs have symbols, or None."""
        kind, first = node.kind(), node._inputs[0].type() if node._inputs else None
        tensors = self._tensors(node)
        values = [self._value(value) for value in node._inputs]
        if all(t.sizes() is not None for t in tensors) and not has_symbols(values):
            said = self._said(node._inputs[GIVEN[kind]]) if kind in GIVEN else ()
            if said is None or None not in said:
                return None  # all is known
        if kind in GIVEN and node.outputsSize() == 1:
            sizes = self._said(node._inputs[GIVEN[kind]])
            if sizes is not None:
                return [sizes]
        changed = written(node)
        if len(changed) == 1 and changed[0] is node._inputs[0]:
            known = isinstance(first, TensorType) and first.dim() is not None
            if known and kind not in RESHAPED and node.outputsSize() == 1:
                return [first._known.sizes]
        if any(t.dim() is None for t in tensors):
            return None
        sizes = {n for t in tensors for n in t.symbolic_sizes()}
        for value in node._inputs:
            sizes |= _numbers_of(self._value(value))
        symbols = sorted(n for n in sizes if n < 0)
        if not symbols:
            return None

        def run(numbers):
            self._numbers = numbers
            exact, results = self._ran(node, schema)
            if not exact:
                raise _NotKnown
            many = isinstance(results, (tuple, list))
            return [
                tuple(r.shape) if _is_tensor(r) else None
                for r in (results if many else [results])
            ]

        key = self._key(node) if self._joined is not None else None
        if key is not None and key in self._joined:
            return self._joined[key]
        try:
            found = probed(run, symbols, {n for n in sizes if n >= 0}) or None
        finally:
            self._numbers = None
        if key is not None and found is not None:
            self._joined[key] = found
        return found

    def _key(self, node):
        """All that the sizes of a node's results depend on; None: not known."""
        parts = []
        for value in node._inputs:
            known = self._value(value)
            if isinstance(value.type(), TensorType):
                parts.append(tuple(value.type().symbolic_sizes()))
            elif known is _UNKNOWN or _numbers_of(known):
                return None
            else:
                parts.append(repr(known))
        return node.kind(), node._schema, tuple(parts)

    def _said(self, value):
        """Sizes that a list says, None in it for those that are not known."""
        items = self._known.get(id(value))
        if not isinstance(items, (list, tuple)) or (
            self._aliases.of(value) in self._written
        ):
            return None
        found = []
        for item in items:
            known = self._value(item) if hasattr(item, "_node") else item
            number = known.number if isinstance(known, Symbol) else known
            found.append(number if isinstance(number, int) else None)
        # The one that -1 stands for follows from the others, at times.
        return None if -1 in found else tuple(found)

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
            if most > _SMALL or is_random(node):
                raise
            try:
                self._guessed()
                arguments, _ = self._examples(node, schema, "cpu")
                return exact, call(schema, arguments, "cpu")
            except (RuntimeError, IndexError):
                if all(t.scalarType() for t in self._tensors(node)[1:]):
                    raise
            return exact, self._with_whole(node, schema)

    def _with_whole(self, node, schema):
        """The results where tensors behind the first are of whole numbers."""
        self._late_whole = True
        try:
            self._guessed()
            arguments, _ = self._examples(node, schema, "cpu")
            return call(schema, arguments, "cpu")
        finally:
            self._late_whole = False

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
        exact = all(self._sizes_of(t) is not None for t in self._tensors(node))
        for argument, value in zip(schema.arguments, values):
            known = self._value(value)
            number = argument.type.str().rstrip("?") == "Scalar"
            items = self._known.get(id(value))
            listed = isinstance(items, list) and any(
                hasattr(v, "_node") and isinstance(v.type(), TensorType) for v in items
            )
            if known is _UNKNOWN and not isinstance(value.type(), TensorType):
                exact = exact and (number or listed)

        out = []
        for i, value in enumerate(values):
            made = self._example(value, exact, device)
            whole = self._late_whole and i and isinstance(value.type(), TensorType)
            if whole and value.type().scalarType() is None:
                made = made.to(hotaru.int64)
            out.append(made)
        return out, exact

    def _sizes_of(self, type: TensorType):
        """The sizes, with numbers in place of symbols; None: not known."""
        sizes = type._known.sizes
        if sizes is None or self._numbers is None:
            return type.sizes()
        return [n if n >= 0 else self._numbers[n] for n in type.symbolic_sizes()]

    def _example(self, value, exact: bool, device: str):
        type = value.type()
        if isinstance(type, TensorType):
            return self._tensor(type, exact, device)
        known = self._known.get(id(value), _UNKNOWN)
        if has_symbols(known) or has_symbols(self._value(value)):
            if self._numbers is None:
                raise _NotKnown
            return without_symbols(self._value(value), self._numbers)
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
        sizes = self._sizes_of(type) if exact else [1] * type.dim()
        strides = type.strides() if self._numbers is None else None
        made = {"dtype": dtype, "device": device}
        if exact and strides is not None and len(strides) == len(sizes):
            return hotaru.empty_strided(sizes, strides, **made).zero_()
        return hotaru.zeros(sizes, **made)


def _name_of(result) -> str | None:
    if not isinstance(result, hotaru.Tensor):
        return None
    return TensorType.create_from_tensor(result).scalarType()


def _numbers_of(value) -> set[int]:
    """Numbers of symbols that a value is or holds."""
    if isinstance(value, (list, tuple)):
        return set().union(*map(_numbers_of, value))
    return {value.number} if isinstance(value, Symbol) else set()


def _holds_tensors(type: Type) -> bool:
    return isinstance(type, (ListType, OptionalType)) and isinstance(
        type.getElementType(), TensorType
    )


def _is_tensor(value) -> bool:
    return isinstance(value, hotaru.Tensor)


class _NotKnown(Exception):  # noqa: N818 - no error
    """Raised where an input has no example."""
