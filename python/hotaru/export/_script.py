"""Compiled modules for `export`: their graphs, followed in Python.

Archives, ONNX models and programs that were loaded are compiled; what they do
is seen node by node, as a module of Python would do it.
"""

from __future__ import annotations

import inspect

from .. import _C, Tensor, full, int64, ops, stack
from .. import bool as bool_
from .. import tensor as tensor_of
from .._function_schema import parse_schema
from .._higher_order_ops.cond import cond
from ..jit._ir import walk
from ..jit._ir.arithmetic import CONTAINERS, TABLE
from ..nn import Module
from ..utils._python_dispatch import _disable_current_modes
from ._elements import Elements
from ._errors import DataDependentError
from ._frames import script_places
from ._known import KnownValues
from ._numbers import SymbolicFloat, SymbolicInt

__all__ = ["exported_module", "python_module"]

_NO_FORM = "it has no form in an exported program"
# Names of dtypes, by the numbers that scripts have for them.
_DTYPES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    8: "complex32",
    9: "complex64",
    10: "complex128",
    11: "bool",
    15: "bfloat16",
    23: "float8_e5m2",
    24: "float8_e4m3fn",
    25: "float8_e5m2fnuz",
    26: "float8_e4m3fnuz",
    27: "uint16",
    28: "uint32",
    29: "uint64",
    18: "bits1x8",
    19: "bits2x4",
    20: "bits4x2",
    21: "bits8",
    22: "bits16",
    **{29 + bits: f"uint{bits}" for bits in range(1, 8)},
    **{36 + bits: f"int{bits}" for bits in range(1, 8)},
    44: "float8_e8m0fnu",
    45: "float4_e2m1fn_x2",
}
_NUMBERS = {getattr(_C, name): number for number, name in _DTYPES.items()}
_FORMATS = {
    0: "contiguous_format",
    1: "preserve_format",
    2: "channels_last",
    3: "channels_last_3d",
}

# The class of modules that ONNX models become.
_ONNX = "OnnxModel"

# Questions that are no operators in PyTorch's programs.
_ASKED = {
    "size": lambda x, dim=None: list(x.size()) if dim is None else x.size(dim),
    "sym_size": lambda x, dim: x.size(dim),
    "dim": lambda x: x.dim(),
    "ndim": lambda x: x.dim(),
    "len": lambda x: x.size(0),
    "numel": lambda x: x.numel(),
    "shape": lambda x: list(x.size()),
    "dtype": lambda x: _NUMBERS[x.dtype],
    "device": lambda x: x.device,
    "layout": lambda x: x.layout,
    "requires_grad": lambda x: x.requires_grad,
    "is_floating_point": lambda x: x.is_floating_point(),
    "is_complex": lambda x: x.is_complex(),
    "is_cuda": lambda x: x.is_cuda,
    "is_nested": lambda x: False,
    "is_sparse": lambda x: False,
    "is_quantized": lambda x: False,
    "data": lambda x: x.detach(),
}
_VALUES = {
    "Bool",
    "Int",
    "Float",
    "IntImplicit",
    "FloatImplicit",
    "ScalarImplicit",
    "Scalar",
    "item",
}


class NotExportedError(walk.NotFollowed, NotImplementedError):
    """A compiled program does what an exported one cannot."""


class _Condition:
    """A bool that only the program's run knows."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class _Walk(walk.Walk):
    """One run of a compiled program, whose operators are called here."""

    refused = NotExportedError

    def __init__(self, constants=()) -> None:
        super().__init__()
        self._known = KnownValues()
        self._elements = Elements()
        for tensor in constants:
            self._known.keep_constant(tensor)

    def visit(self, node) -> None:
        """Computes a node; whoever asks where this is gets its line."""
        place = node._place
        script_places.append((place[0], place[1], "forward") if place else None)
        try:
            super().visit(node)
        except NotExportedError as error:
            name = (node._schema or node.kind()).partition("(")[0]
            if place and not hasattr(error, "placed"):
                error = NotExportedError(
                    f"export: {name}: {error}, at {place[0]}:{place[1]}"
                )
                error.placed = True
            raise error from None
        finally:
            script_places.pop()

    def operator(self, node, inputs):
        """The result of an operator of tensors or numbers."""
        space, _, base = node.kind().partition("::")
        first = inputs[0] if inputs else None
        if isinstance(first, Tensor):
            if base in _ASKED:
                return _ASKED[base](*inputs)
            if base in _VALUES:
                return self._value(base, first)
            if base == "tolist":
                return self._numbers(first)
        if base in ("__is__", "__isnot__") or (
            base in CONTAINERS and isinstance(first, (list, tuple, dict))
        ):
            return TABLE[base](*inputs)
        if isinstance(first, _Condition):
            return self._of_condition(base, inputs)
        if node._schema is None:
            return _computed(base, inputs)
        schema = parse_schema(node._schema)
        gives = any("Tensor" in str(r.type) for r in schema.returns)
        if gives or any(map(_has_tensor, inputs)):

            def call(values):
                return _called(space, node._schema, schema, values)

            result = call(inputs)
            self._known.called(base, schema, inputs, result, call)
            self._elements.called(base, inputs, result)
            return result
        return _computed(base, inputs)

    def _numbers(self, tensor: Tensor) -> list:
        """A tensor's elements as a list, where they are known."""
        elements = self._elements.of(tensor)
        if elements is not None and tensor.dim() == 1:
            return list(elements)
        known = self._known.of(tensor)
        if known is None:
            raise NotExportedError(
                "it asks for a tensor's elements, which only the run knows"
            )
        with _disable_current_modes():
            return known.tolist()

    def _value(self, base: str, tensor: Tensor):
        elements = self._elements.of(tensor)
        if elements is not None and len(elements) == 1 and base != "Bool":
            return _number_of(base.removesuffix("Implicit"), elements[0])
        try:
            known = self._known.of(tensor)
            if known is None:
                value = tensor.item()
            else:
                with _disable_current_modes():
                    value = known.item()
        except DataDependentError:
            if base != "Bool":
                raise
            return _Condition(tensor if tensor.dtype is bool_ else tensor != 0)
        kinds = {"Bool": bool, "Int": int, "Float": float}
        return kinds.get(base.removesuffix("Implicit"), lambda x: x)(value)

    def _of_condition(self, base: str, inputs):
        if base == "__not__":
            return _Condition(inputs[0].tensor.logical_not())
        raise NotExportedError(walk.ASKS_VALUE)

    def number(self, value):
        """A tensor of a number."""
        return _tensor_of(value)

    def choose(self, condition, then, otherwise):
        """The branch that is taken; both where only the run knows."""
        if not isinstance(condition, _Condition):
            return super().choose(condition, then, otherwise)
        kinds: list = []

        def branch(run):
            def results():
                found = run()
                if not found or any(x is None for x in found):
                    raise NotExportedError(
                        "a branch that depends on data ends a loop or the "
                        "function, or gives nothing"
                    )
                kinds.append([isinstance(x, Tensor) for x in found])
                return tuple(map(_as_tensor, found))

            return results

        found = cond(condition.tensor, branch(then), branch(otherwise))
        tensors = kinds[0]
        return [
            x if is_tensor else _Condition(x) for x, is_tensor in zip(found, tensors)
        ]

    def class_of(self, value) -> type:
        """The class that a program takes a value for."""
        stand_ins = {SymbolicInt: int, SymbolicFloat: float, _Condition: bool}
        return stand_ins.get(type(value), value.__class__)

    def holds(self, condition) -> bool:
        """Tells whether a loop goes on."""
        if isinstance(condition, _Condition):
            raise NotExportedError("a loop whose end depends on data")
        return bool(condition)


def _as_tensor(x):
    if isinstance(x, _Condition):
        return x.tensor
    if isinstance(x, bool):
        return tensor_of(x)
    if not isinstance(x, Tensor):
        raise NotExportedError(
            f"a branch that depends on data gives a {type(x).__name__}"
        )
    return x


def _has_tensor(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensor, value))
    return isinstance(value, Tensor)


def _number_of(base: str, number):
    """An element as the program asks for it: as `Int`, `Float` or itself."""
    same = type(number) is SymbolicFloat and base == "Float"
    return number if same or base == "item" else _computed(base, [number])


def _computed(base: str, inputs):
    """Computes what numbers, lists and texts give."""
    if base in ("Int", "Float") and type(inputs[0]) is SymbolicInt:
        return inputs[0] if base == "Int" else inputs[0] / 1
    if base not in TABLE:
        raise NotExportedError(_NO_FORM)
    return TABLE[base](*inputs)


def _called(space: str, text: str, schema, inputs):
    """A call of the operator, without what its schema says anyway."""
    name = text.partition("(")[0].partition("::")[2]
    base, _, overload = name.partition(".")
    args, kwargs = [], {}
    last = 0  # positional ones that say more than their defaults
    for argument, value in zip(schema.arguments, inputs):
        usual = argument.has_default_value() and _same(value, argument.default_value)
        value = _spelled(argument, value)
        if not argument.kwarg_only:
            args.append(value)
            last = last if usual else len(args)
        elif not usual:
            kwargs[argument.name] = value
    if overload.startswith("prim_"):  # only scripts have it: x.to(...)
        given = {a.name: v for a, v in zip(schema.arguments[1:], args[1:last])}
        return getattr(args[0], base)(**given, **kwargs)
    if overload == "cast":  # x.short(), to which scripts have an operator
        return getattr(args[0], base)()
    args = args[:last]
    if (space, base) == ("aten", "tensor"):  # only scripts have it
        kwargs.pop("requires_grad", None)
        return _tensor_of(*args, **kwargs)
    packet = getattr(getattr(ops, space), base, None)
    if packet is None:
        raise NotExportedError(_NO_FORM)
    return getattr(packet, overload or "default")(*args, **kwargs)


_SYMBOLIC = (SymbolicInt, SymbolicFloat)


def _tensor_of(data, dtype=None, device=None):
    """`torch.tensor` of numbers, those that only the run knows included."""
    if type(data) is SymbolicInt:
        return full((), data, dtype=dtype or int64, device=device)
    if type(data) is SymbolicFloat:
        return full((), data, dtype=dtype, device=device)
    if isinstance(data, list) and any(type(x) in _SYMBOLIC for x in data):
        if dtype is None and not any(type(x) in (float, SymbolicFloat) for x in data):
            dtype = int64
        return stack([_tensor_of(x, dtype, device) for x in data])
    return tensor_of(data, dtype=dtype, device=device)


def _same(a, b) -> bool:
    return type(a) is type(b) and not _has_tensor(a) and a == b


def _spelled(argument, value):
    """Numbers that stand for dtypes and the like as what they mean."""
    if type(value) is not int:
        return value
    kind = str(argument.real_type)
    if argument.name == "dtype":
        kind = "ScalarType"
    table = {"ScalarType": _DTYPES, "MemoryFormat": _FORMATS}
    for word, names in table.items():
        if word in kind:
            name = names.get(value)
            if name is None:
                raise NotExportedError(f"the {word} of number {value}")
            return getattr(_C, name)
    return None if "Layout" in kind and value == 0 else value


# --- modules ---


class _Part(Module):
    """Parameters, buffers and modules of a compiled module."""


def python_module(script, method: str = "forward", program=None) -> Module:
    """A module of Python's with the same parameters and buffers, under their
    names, whose forward follows the graph of the method, or of `program`.

    Buffers of an ONNX model are constants of its file: what is computed of
    them alone is known.
    """
    program = program or getattr(script, method)
    arguments = list(program.schema.arguments)[1:]

    def forward(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        values = list(given.arguments.values())[1:]
        constants = ()
        if script.original_name == _ONNX:
            constants = [buffer for _, buffer in script.named_buffers()]
        walk = _Walk(constants)
        return walk.run(program.inlined_graph, [script, *values])

    parameters = [
        inspect.Parameter(
            a.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=a.default_value
            if a.has_default_value()
            else inspect.Parameter.empty,
        )
        for a in arguments
    ]
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *parameters]
    )
    forward.__signature__ = signature
    made = type("Program", (_Part,), {"forward": forward})()
    for path, tensor in script.named_parameters(remove_duplicate=False):
        owner, name = _owner(made, path)
        owner._parameters[name] = tensor  # the compiled module's own
    for path, tensor in script.named_buffers(remove_duplicate=False):
        owner, name = _owner(made, path)
        owner._buffers[name] = tensor  # a name may be that of a method
    made.train(script.training)
    return made


def exported_module(loaded) -> Module:
    """As `python_module` of a loaded program's module, which is called with
    the containers that the program was exported with.
    """
    call = loaded._call
    made = python_module(loaded, program=loaded._c.method(call.method))
    follow = type(made).forward
    flat = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in ("self", *call.names, *call.keywords)
        ]
    )

    def forward(self, *args, **kwargs):
        leaves = call.leaves(args, kwargs)
        return call.result(follow(self, *leaves))

    forward.__signature__ = flat
    type(made).forward = forward
    return made


def _owner(module: Module, path: str) -> tuple[Module, str]:
    *names, last = path.split(".")
    for name in names:
        if name not in module._modules:
            module.add_module(name, _Part())
        module = module._modules[name]
    return module, last
