"""Operators by the names that PyTorch's exported programs have for them.

Numbers go to other overloads there than in hotaru, and some operators exist for
exported programs only. All are callables that run here.
"""

from __future__ import annotations

from .. import Tensor
from .._function_schema import parse_schema
from .._ops import aten

__all__ = ["canonical", "lift_copy", "sym_size", "without_out"]

# Numbers where the operator takes tensors, too: PyTorch makes tensors of them.
_WRAPPED = {
    f"{name}{end}.Scalar"
    for name in ("add", "sub", "mul", "div", "floor_divide")
    for end in ("", "_")
}


def canonical(function, args: tuple, kwargs: dict):
    """The call under PyTorch's name of the overload, with lists where the
    schema has them.
    """
    schema = function._schema.arguments
    args = tuple(_listed(a, x) for a, x in zip(schema, args))
    by_name = {a.name: a for a in schema}
    kwargs = {
        k: _listed(by_name[k], x) if k in by_name else x for k, x in kwargs.items()
    }
    return _renamed(function, args, kwargs)


def without_out(function):
    """The overload that gives what this one writes to `out`; None if there is
    none.
    """

    def taken(arguments) -> list:
        return [
            (a.name, str(a.type), a.kwarg_only) for a in arguments if a.name != "out"
        ]

    packet = function.overloadpacket
    wanted = taken(function._schema.arguments)
    for name in packet.overloads():
        found = getattr(packet, name)
        if taken(found._schema.arguments) == wanted:
            return found
    return None


def _listed(argument, value):
    """A number for a list is one of as many as there should be."""
    if not isinstance(value, (int, float)) or "List[" not in str(argument.type):
        return value
    return [value] * (argument.N or 1)


def _renamed(function, args: tuple, kwargs: dict):
    name = function.__name__
    if name in _WRAPPED:
        packet = function.overloadpacket
        if len(args) > 2:  # alpha
            kwargs = {**kwargs, "alpha": args[2]}
            args = args[:2]
        wanted = "Tensor" if not name.startswith("floor") else "Scalar"
        return getattr(packet, wanted), args, kwargs
    return function, args, kwargs


class _Own:
    """An operator of the namespace `aten` that has a Python function."""

    namespace = "aten"
    __module__ = "torch.ops.aten"

    def __init__(self, name: str, schema: str, function) -> None:
        base, _, overload = name.partition(".")
        self.__name__ = name
        self._opname, self._overloadname = base, overload
        text = schema if overload == "default" else f".{overload}{schema}"
        self._schema = parse_schema(f"aten::{base}{text}")
        self._function = function
        packet = vars(aten).get(base)
        if packet is None:
            packet = _Packet(base)
            setattr(aten, base, packet)
        setattr(packet, overload, self)
        self.overloadpacket = packet

    def name(self) -> str:
        """As in "aten::sym_size.int"."""
        return f"aten::{self.__name__.removesuffix('.default')}"

    def __call__(self, /, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    __repr__ = __str__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class _Packet:
    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__module__ = "torch.ops.aten"


def _size(self: Tensor, dim: int) -> int:
    return self.size(dim)


sym_size = _Own("sym_size.int", "(Tensor self, int dim) -> SymInt", _size)
lift_copy = _Own(
    "lift_fresh_copy.default", "(Tensor self) -> Tensor", lambda self: self.clone()
)
