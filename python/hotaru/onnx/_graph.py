"""Graph and values of it, as symbolic functions of programs see them."""

from __future__ import annotations

import re

from .. import Tensor, float32, int64, tensor
from .. import bool as bool_dtype
from .._extension.dtypes import scalar_type

__all__ = ["Graph", "Value", "described", "written"]

_ATTRIBUTE = re.compile(r"^(.+)_([ifst])$")
_PLAIN = (int, float, str, Tensor)


class _Type:
    """Facts of a value, as far as they are known."""

    def __init__(self, sizes: tuple | None, dtype) -> None:
        self._sizes, self._dtype = sizes, dtype

    def sizes(self) -> list | None:
        """Sizes, None for one that varies; None where nothing is known."""
        return None if self._sizes is None else list(self._sizes)

    def varyingSizes(self) -> list | None:  # noqa: N802
        """The same."""
        return self.sizes()

    def dim(self) -> int | None:
        """Number of dimensions."""
        return None if self._sizes is None else len(self._sizes)

    def dtype(self):
        """The dtype, or None."""
        return self._dtype

    def scalarType(self) -> str | None:  # noqa: N802
        """PyTorch's name of the dtype: "Float"."""
        return None if self._dtype is None else scalar_type(self._dtype)

    def kind(self) -> str:
        """The kind of type that every value here has."""
        return "TensorType"

    def with_sizes(self, sizes) -> _Type:
        """The type with other sizes."""
        return _Type(tuple(sizes), self._dtype)

    def with_dtype(self, dtype) -> _Type:
        """The type with another dtype."""
        return _Type(self._sizes, dtype)


class _Node:
    """The node that made a value, as functions ask about it."""

    def __init__(self, kind: str, inputs: tuple, tensor: Tensor | None) -> None:
        self._kind, self._inputs, self._tensor = kind, inputs, tensor

    def kind(self) -> str:
        """The operator: "onnx::Constant"; of what is given "prim::Param"."""
        return self._kind

    def inputs(self) -> tuple:
        """The values that it reads."""
        return self._inputs

    def t(self, name: str) -> Tensor:
        """The tensor of a constant."""
        if self._tensor is None or name != "value":
            from ..jit._ir.attributes import undefined

            raise undefined(name)
        return self._tensor


class Value:
    """A value of the graph; `name` is its own in the file."""

    def __init__(
        self,
        name: str,
        sizes: tuple | None = None,
        dtype=None,
        node: _Node | None = None,
    ) -> None:
        self.name = name
        self._type = _Type(sizes, dtype)
        self._node = node or _Node("prim::Param", (), None)

    def debugName(self) -> str:  # noqa: N802
        """The name."""
        return self.name

    def type(self) -> _Type:
        """Sizes and dtype, as far as they are known."""
        return self._type

    def setType(self, type: _Type) -> Value:  # noqa: N802
        """Says what it is."""
        self._type = type
        return self

    def isCompleteTensor(self) -> bool:  # noqa: N802
        """True if all sizes and the dtype are known."""
        sizes = self._type.sizes()
        return (
            self._type.dtype() is not None and sizes is not None and None not in sizes
        )

    def node(self) -> _Node:
        """The node that made it."""
        return self._node


class Graph:
    """The graph that an export writes, as one symbolic function sees it."""

    def __init__(self, native, opset: int) -> None:
        self._native, self.opset = native, opset

    def op(self, name: str, *args, outputs: int = 1, **attributes):
        """Writes a node: `g.op("Softmax", x, axis_i=1)`, `g.op("lib::Op", x)`.

        Args:
            name: an operator of ONNX, or "domain::name".
            args: values of the graph, or tensors and numbers, which become
                constants of it; None for an input that is left out.
            outputs: how many results it has.
            attributes: by name and kind: `_i`, `_f`, `_s`, `_t`, a list for
                several.

        Returns:
            its result, a tuple of them where there are several.

        ValueError: an attribute without a kind.
        """
        domain, _, kind = name.rpartition("::")
        domain = "" if domain == "onnx" else domain
        given = tuple(self._value(arg) for arg in args)
        names = self._native._add(
            kind,
            domain,
            ["" if value is None else value.name for value in given],
            outputs,
            [_attribute(key, value) for key, value in sorted(attributes.items())],
        )
        constant = attributes.get("value_t") if kind == "Constant" else None
        node = _Node(f"{domain or 'onnx'}::{kind}", given, constant)
        look = (None, None)
        if constant is not None:
            look = (tuple(constant.shape), constant.dtype)
        made = tuple(Value(n, *look, node) for n in names)
        return made[0] if outputs == 1 else made

    def _value(self, value):
        if value is None or isinstance(value, Value):
            return value
        made = _as_tensor(value)
        name = self._native._constant(made)
        node = _Node("onnx::Constant", (), made)
        return Value(name, tuple(made.shape), made.dtype, node)


def _as_tensor(value) -> Tensor:
    """A constant: numbers are float32, int64 or bool."""
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, bool):
        return tensor(value, dtype=bool_dtype)
    flat = value if isinstance(value, (list, tuple)) else (value,)
    if not all(isinstance(v, (int, float)) for v in flat):
        raise TypeError(
            f"g.op: no value of the graph and no constant: {type(value).__name__}"
        )
    whole = all(isinstance(v, int) for v in flat)
    return tensor(value, dtype=int64 if whole else float32)


def _attribute(key: str, value) -> tuple:
    found = _ATTRIBUTE.match(key)
    if not found:
        raise ValueError(
            f"Invalid attribute specifier '{key}' names must be suffixed with type, "
            "e.g. 'dim_i' or 'dims_i'"
        )
    name, kind = found.groups()
    if isinstance(value, Value):
        raise TypeError(f"g.op: attribute {key} is a value of the graph")
    several = not isinstance(value, _PLAIN)
    if kind in "if":
        cast = int if kind == "i" else float
        value = [cast(v) for v in value] if several else cast(value)
    elif several:
        value = list(value)
    return name, kind + "s" * several, value


def described(facts: tuple) -> Value:
    """The value of a name, sizes and a dtype."""
    return Value(*facts)


def written(function, opset: int):
    """`function` as the exporter calls it: with a graph and arguments, for the
    names of its results.
    """

    def call(native, args: tuple) -> list[str]:
        graph = Graph(native, opset)
        result = function(graph, *args)
        several = result if isinstance(result, (list, tuple)) else (result,)
        return [graph._value(value).name for value in several]

    return call
