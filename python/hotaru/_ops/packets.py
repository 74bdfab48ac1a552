"""Packets: operators with their overloads as attributes."""

from __future__ import annotations

from .. import _C
from .._late import lent
from .._operators import dispatch, questions, table
from . import out_names
from .overloads import (
    DefinedOverload,
    OpOverload,
    OutOverload,
    OwnOverload,
    arguments_of,
)

# Overloads whose form with `out=` is called "out".
_PLAIN = ("default", "Tensor", "self")


def _packet(name: str, space: str = "aten") -> OpOverloadPacket:
    """Finds the packet that pickles refer to."""
    return getattr(lent("namespace")(space), name)


class OpOverloadPacket:
    """An operator, with its overloads as attributes."""

    def __init__(self, name: str, op, namespace: str = "aten") -> None:
        self.__name__ = name
        self.__module__ = f"torch.ops.{namespace}"
        self.op = op
        self._qualified_op_name = f"{namespace}::{name}"
        self._schemas: dict = self._declared()

    def _declared(self) -> dict:
        """The overloads by their names."""
        found = {}
        plain = self._qualified_op_name.removeprefix("aten::")
        for schema in _C._op_schemas(plain):
            _, _, overload = schema.partition("(")[0].partition(".")
            found[overload or "default"] = schema
        return found

    def _made(self, name: str) -> OpOverload:
        return OpOverload(self, name, self._schemas[name])

    def _made_out(self, name: str) -> OpOverload | None:
        """The overload that writes what another returns: "out" of the one for
        tensors, "X_out" of X, or as `out_names` has it.
        """
        schemas = self.__dict__.get("_schemas", {})
        for base, text in schemas.items():
            known = out_names.of(self.__name__, base)
            if known is not None and known[0] == name:
                return OutOverload(self, name, text, known[1])
        if name != "out" and not name.endswith("_out"):
            return None
        bases = (name[:-4],) if name != "out" else _PLAIN
        for base in bases:
            text = schemas.get(base)
            if isinstance(text, str) and text.endswith(" -> Tensor"):
                return OutOverload(self, name, text)
        return None

    def _out_of(self, base: str) -> OpOverload | None:
        """The form of an overload that writes to `out=`; None where that takes
        several tensors and has no name here.
        """
        known = out_names.of(self.__name__, base)
        if known is not None:
            return getattr(self, known[0], None)
        plain = next((name for name in _PLAIN if name in self._schemas), None)
        name = "out" if base == plain else f"{base}_out"
        return getattr(self, name, None)

    def _texts(self) -> list[str]:
        """The schemas of its overloads, without the namespace."""
        return [getattr(self, name)._text for name in self._schemas]

    @property
    def _defined_in_python(self) -> bool:
        """True if a program defined it."""
        return False

    def resolve(self, args: tuple, kwargs: dict) -> str:
        """The name of the overload that arguments fit.

        RuntimeError where they fit none.
        """
        return questions.resolve_packet(self._qualified_op_name, *args, **kwargs)

    def overloads(self) -> list[str]:
        """Their names."""
        return list(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)

    def __iter__(self):
        return iter(self._schemas)

    def __getattr__(self, name: str) -> OpOverload:
        known = name in self.__dict__.get("_schemas", {})
        made = self._made(name) if known else self._made_out(name)
        if made is None:
            raise AttributeError(
                f"The underlying op of '{self}' has no overload name '{name}'"
            )
        setattr(self, name, made)
        return made

    def __call__(self, /, *args, **kwargs):
        relevant = tuple(arguments_of(args, kwargs))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        return self._run(args, kwargs)

    def _run(self, args, kwargs):
        try:
            return self.op(*args, **kwargs)
        except TypeError:
            self.resolve(args, kwargs)  # RuntimeError: they fit no overload
            raise

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __bool__(self) -> bool:
        return True

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        space = self._qualified_op_name.partition("::")[0]
        return _packet, (self.__name__, space)


class OwnPacket(OpOverloadPacket):
    """An operator that C++ defined (TORCH_LIBRARY); see `_operators.own`."""

    def _made(self, name: str) -> OpOverload:
        return OwnOverload(self, name, self._schemas[name])

    def _run(self, args, kwargs):
        try:
            return self.op(*args, **kwargs)
        except TypeError:
            self.resolve(args, kwargs)  # RuntimeError that says what is wrong
            raise

    @property
    def _vmap_rule(self):
        """The batching rule, where there is one overload."""
        names = self.overloads()
        return getattr(self, names[0])._vmap_rule if len(names) == 1 else None


class DefinedPacket(OpOverloadPacket):
    """An operator that a program defined; see `library`."""

    @property
    def _defined_in_python(self) -> bool:
        return True

    @property
    def _vmap_rule(self):
        """The batching rule, where there is one overload."""
        operators = list(self._schemas.values())
        return operators[0].vmap if len(operators) == 1 else None

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__(name, None, namespace)
        self.__module__ = f"torch._ops.{namespace}"
        self.op = self

    def _declared(self) -> dict:
        return table.overloads(self._qualified_op_name)

    def _made(self, name: str) -> OpOverload:
        return DefinedOverload(self, name, self._schemas[name])

    def _run(self, args, kwargs):
        if len(self._schemas) == 1:
            (operator,) = self._schemas.values()
        else:
            operator = self._schemas[self.resolve(args, kwargs)]
        return dispatch.call(operator, args, kwargs)
