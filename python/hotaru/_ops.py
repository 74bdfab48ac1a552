"""torch.ops.aten: operators with their overloads, as PyTorch names them.

`torch.ops.aten.add` is a packet, `torch.ops.aten.add.Tensor` one overload of
it. Both call the operator, which is faster by its own name, torch.add.
"""

from __future__ import annotations

import importlib
import sys
import types

from . import _C, Tensor, ops
from ._schemas import signature

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]


def _parameters(schema: str) -> list:
    return list(signature(schema).parameters.values())


def _arguments(args, kwargs) -> list:
    """All arguments, those in lists too."""
    found = []
    for value in (*args, *kwargs.values()):
        found.extend(value if isinstance(value, (list, tuple)) else (value,))
    return found


class OpOverload:
    """One signature of an operator; calls that do not fit it are refused."""

    def __init__(self, packet: OpOverloadPacket, name: str, schema: str):
        self.overloadpacket = packet
        self._overloadname = name
        self._text = schema
        self.__name__ = f"{packet.__name__}.{name}"
        self.__module__ = packet.__module__
        self.namespace = "aten"

    @property
    def _schema(self) -> str:
        """The declaration."""
        return f"aten::{self._text}"

    def name(self) -> str:
        """As in "aten::add.Tensor"."""
        return f"aten::{self._text.partition('(')[0]}"

    def __repr__(self) -> str:
        return (
            f"<OpOverload(op='{self.overloadpacket}', "
            f"overload='{self._overloadname}')>"
        )

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __call__(self, *args, **kwargs):
        if _C._overridden(*_arguments(args, kwargs)):
            return _C._handle_torch_function(
                self, tuple(_arguments(args, kwargs)), args, kwargs
            )
        self._check(args, kwargs)
        return self.overloadpacket.op(*args, **kwargs)

    def _check(self, args, kwargs) -> None:
        """RuntimeError where the arguments are those of other overloads."""
        known = _parameters(self._text)
        given = dict(zip((p.name for p in known), args))
        given.update(kwargs)
        if "self" in given:
            given["input"] = given.pop("self")
        for parameter in known:
            name = "self" if parameter.name == "input" else parameter.name
            if parameter.name not in given:
                if parameter.default is not parameter.empty:
                    continue
                raise RuntimeError(
                    f"{self._packet_name()}() is missing value for argument "
                    f"'{name}'. Declaration: {self._schema}"
                )
            kind = str(parameter.annotation)
            value = given[parameter.name]
            if isinstance(value, Tensor) and "Tensor" not in kind:
                raise RuntimeError(
                    f"{self._packet_name()}() Expected a value of type "
                    f"'{_spelled(kind)}' for argument '{name}' but instead "
                    f"found type 'Tensor'.\nDeclaration: {self._schema}"
                )

    def _packet_name(self) -> str:
        return f"aten::{self.overloadpacket.__name__}"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _overload, (self.overloadpacket.__name__, self._overloadname)


def _spelled(kind: str) -> str:
    return "number" if "Number" in kind else kind.strip("<>'").split("'")[-1]


def _overload(packet: str, name: str) -> OpOverload:
    """What pickles refer to."""
    return getattr(_packet(packet), name)


def _packet(name: str) -> OpOverloadPacket:
    return getattr(aten, name)


class OpOverloadPacket:
    """An operator, with its overloads as attributes."""

    def __init__(self, name: str, op) -> None:
        self.__name__ = name
        self.__module__ = "torch.ops.aten"
        self.op = op
        self._qualified_op_name = f"aten::{name}"
        self._schemas: dict[str, str] = {}
        for schema in _C._op_schemas(name):
            _, _, overload = schema.partition("(")[0].partition(".")
            self._schemas[overload or "default"] = schema

    def overloads(self) -> list[str]:
        """Their names."""
        return list(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)

    def __iter__(self):
        return iter(self._schemas)

    def __getattr__(self, name: str) -> OpOverload:
        schemas = self.__dict__.get("_schemas", {})
        if name not in schemas:
            raise AttributeError(
                f"The underlying op of '{self}' has no overload name '{name}'"
            )
        made = OpOverload(self, name, schemas[name])
        setattr(self, name, made)
        return made

    def __call__(self, *args, **kwargs):
        if _C._overridden(*_arguments(args, kwargs)):
            return _C._handle_torch_function(
                self, tuple(_arguments(args, kwargs)), args, kwargs
            )
        return self.op(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __bool__(self) -> bool:
        return True

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _packet, (self.__name__,)


# Functions in Python that PyTorch has among its operators alone.
_MADE_IN = {"_sparse_compressed_tensor_with_dims": "sparse.compressed_create"}


class _OpNamespace(types.ModuleType):
    """The packets of all operators, made when first asked for."""

    def __getattr__(self, name: str) -> OpOverloadPacket:
        op = getattr(ops, name, None)
        if name in _MADE_IN:
            module = importlib.import_module(f"hotaru.{_MADE_IN[name]}")
            return vars(self).setdefault(name, getattr(module, name))
        if not isinstance(op, _C.Op):
            raise AttributeError(
                f"'_OpNamespace' 'aten' object has no attribute '{name}'"
            )
        made = OpOverloadPacket(name, op)
        setattr(self, name, made)
        return made

    def __repr__(self) -> str:
        return "<module 'torch.ops.aten' from 'torch.ops'>"


aten = _OpNamespace("torch.ops.aten")
sys.modules[f"{ops.__name__}.aten"] = aten
