"""torch.ops: operators with their overloads, as PyTorch names them.

`torch.ops.aten.add` is a packet, `torch.ops.aten.add.Tensor` one overload of
it. Both call the operator, which is faster by its own name, torch.add. Other
namespaces have the operators that programs defined (`library`).
"""

from __future__ import annotations

import sys
import types

from . import _C, Tensor, ops
from ._function_schema import parse_schema
from ._function_schema.signatures import signature
from ._late import lent
from ._operators import derived, dispatch, native_tags, own, questions, table

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]


def _parameters(schema: str) -> list:
    return list(signature(schema).parameters.values())


def _arguments(args, kwargs) -> list:
    """All arguments, those in lists too."""
    found = []
    for value in (*args, *kwargs.values()):
        found.extend(value if isinstance(value, (list, tuple)) else (value,))
    return found


# Of these the form with `out=` is called "out".
_PLAIN = ("default", "Tensor", "self")


class OpOverload:
    """One signature of an operator; calls that do not fit it are refused."""

    def __init__(self, packet: OpOverloadPacket, name: str, schema: str):
        self.overloadpacket = packet
        self._overloadname = name
        self.namespace = packet._qualified_op_name.partition("::")[0]
        # The registry's names have their namespace, but for aten's.
        self._text = schema.removeprefix(f"{self.namespace}::")
        self.__name__ = f"{packet.__name__}.{name}"
        self.__module__ = packet.__module__

    @property
    def _schema(self):
        """The declaration, a FunctionSchema."""
        return parse_schema(f"{self.namespace}::{self._text}")

    @property
    def _opname(self) -> str:
        return self.overloadpacket.__name__

    @property
    def _name(self) -> str:
        return self.name()

    @property
    def _defined_in_python(self) -> bool:
        """Whether a program defined it."""
        return False

    @property
    def tags(self) -> list:
        """What compilers and tests may assume, a list of torch.Tag."""
        return native_tags.of(self.name())

    @property
    def is_view(self) -> bool:
        """Whether a result is a view of an argument."""
        return self._schema._is_view_op()

    def name(self) -> str:
        """As in "aten::add.Tensor"."""
        return f"{self.namespace}::{self._text.partition('(')[0]}"

    def has_kernel_for_dispatch_key(self, key) -> bool:
        """Whether a kernel is registered for the key itself."""
        return questions.has_kernel_for_dispatch_key(self.name(), key)

    def __repr__(self) -> str:
        return (
            f"<OpOverload(op='{self.overloadpacket}', "
            f"overload='{self._overloadname}')>"
        )

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __call__(self, *args, **kwargs):
        relevant = tuple(_arguments(args, kwargs))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        return self._run(args, kwargs)

    def _run(self, args, kwargs):
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

        names = {p.name for p in known}
        for name in kwargs:
            if name not in names and not (name == "self" and "input" in names):
                raise RuntimeError(
                    f"Unknown keyword argument '{name}' for operator "
                    f"'{self._packet_name()}'. Schema: {self._schema}"
                )

    def _packet_name(self) -> str:
        return self.overloadpacket._qualified_op_name

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        packet = self.overloadpacket
        named = packet.__name__, self._overloadname
        return _overload, (*named, self.namespace)


class OutOverload(OpOverload):
    """The form of another overload that writes into a tensor, `out=`.

    PyTorch has a name of its own for each; here they are made where they are
    asked for and stand in no list.
    """

    def __init__(self, packet: OpOverloadPacket, name: str, base: str) -> None:
        head, arrow, _ = base.rpartition(" -> ")
        start, _, arguments = head.removesuffix(")").partition("(")
        star = "" if "*, " in arguments else ", *"
        operator = start.partition(".")[0]
        text = f"{operator}.{name}({arguments}{star}, Tensor(a!) out)"
        super().__init__(packet, name, f"{text}{arrow}Tensor(a!)")

    def _check(self, args, kwargs) -> None:
        if not isinstance(kwargs.get("out"), Tensor):
            raise RuntimeError(
                f"{self._packet_name()}() is missing value for argument "
                f"'out'. Declaration: {self._schema}"
            )
        super()._check(args, kwargs)


class DefinedOverload(OpOverload):
    """An overload that a program defined; see `library`."""

    def __init__(self, packet: OpOverloadPacket, name: str, operator) -> None:
        text = str(operator.schema).partition("::")[2]
        super().__init__(packet, name, text)
        self._operator = operator

    @property
    def _schema(self):
        return self._operator.schema

    @property
    def _defined_in_python(self) -> bool:
        return True

    @property
    def _vmap_rule(self):
        return self._operator.vmap

    @property
    def tags(self) -> list:
        """Those that it was defined with."""
        return self._operator.tags

    def _run(self, args, kwargs):
        return dispatch.call(self._operator, args, kwargs)


class OwnOverload(OpOverload):
    """An overload that C++ defined (TORCH_LIBRARY); see `_operators.own`."""

    @property
    def _operator(self):
        return own.find(self._name.removesuffix(".default"))

    @property
    def _schema(self):
        return self._operator.schema

    @property
    def _vmap_rule(self):
        return self._operator.vmap

    @property
    def tags(self) -> list:
        """None: C++'s tags are not kept."""
        return self._operator.tags


def _spelled(kind: str) -> str:
    return "number" if "Number" in kind else kind.strip("<>'").split("'")[-1]


def _overload(packet: str, name: str, space: str = "aten") -> OpOverload:
    """What pickles refer to."""
    return getattr(_packet(packet, space), name)


def _packet(name: str, space: str = "aten") -> OpOverloadPacket:
    return getattr(namespace(space), name)


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
        tensors, "X_out" of X.
        """
        if name != "out" and not name.endswith("_out"):
            return None
        bases = (name[:-4],) if name != "out" else _PLAIN
        for base in bases:
            text = self.__dict__.get("_schemas", {}).get(base)
            if isinstance(text, str) and text.endswith(" -> Tensor"):
                return OutOverload(self, name, text)
        return None

    def _out_of(self, base: str) -> OpOverload | None:
        """The form of an overload that writes to `out=`; None where that takes
        several tensors.
        """
        plain = next((name for name in _PLAIN if name in self._schemas), None)
        name = "out" if base == plain else f"{base}_out"
        return getattr(self, name, None)

    def _texts(self) -> list[str]:
        """The schemas of its overloads, without the namespace."""
        return [getattr(self, name)._text for name in self._schemas]

    @property
    def _defined_in_python(self) -> bool:
        """Whether a program defined it."""
        return False

    def resolve(self, args: tuple, kwargs: dict) -> str:
        """The name of the overload that arguments fit.

        RuntimeError where they fit none.
        """
        return questions.resolve_packet(
            self._qualified_op_name, *args, **kwargs
        )

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

    def __call__(self, *args, **kwargs):
        relevant = tuple(_arguments(args, kwargs))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        return self._run(args, kwargs)

    def _run(self, args, kwargs):
        return self.op(*args, **kwargs)

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


# Functions in Python that PyTorch has among its operators alone.
_IN_PYTHON = {"_sparse_compressed_tensor_with_dims"}


class _OpNamespace(types.ModuleType):
    """The packets of all operators, made when first asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if self.name == "aten" and name in _IN_PYTHON:
            return vars(self).setdefault(name, lent(name))
        made = None
        if not name.startswith("__"):
            made = self._find(name)
        if made is None:
            raise AttributeError(
                f"'_OpNamespace' '{self.__dict__.get('name')}' object has no "
                f"attribute '{name}'"
            )
        setattr(self, name, made)
        return made

    def _find(self, name: str) -> OpOverloadPacket | None:
        space = self.__dict__["name"]
        if space == "aten":
            op = vars(ops).get(name)
            if isinstance(op, _C.Op):
                return OpOverloadPacket(name, op)
            lent("define_composed")(name)
        if space == "higher_order":  # its operators are functions in Python
            lent("higher_order_operators")
            if name in vars(self):
                return vars(self)[name]
        made = DefinedPacket(name, space)
        if space == "hotaru" and not len(made) and hasattr(aten, name):
            return lent("derivatives")(getattr(aten, name))
        if len(made):
            return made
        whole = name if space == "aten" else f"{space}::{name}"
        if not _C._op_schemas(whole):
            return None
        kind = OwnPacket if name in own.names_in(space) else OpOverloadPacket
        return kind(name, _C._operator(whole), space)

    def __repr__(self) -> str:
        space = self.__dict__["name"]
        return f"<module 'torch.ops.{space}' from 'torch.ops'>"


_spaces: dict[str, _OpNamespace] = {}


def namespace(name: str) -> _OpNamespace:
    """torch.ops.<name>; there is one for every name, maybe empty."""
    found = _spaces.get(name)
    if found is None:
        found = _spaces[name] = _OpNamespace(name)
    return found


def forget(space: str, name: str) -> None:
    """Makes the next use of an operator look at its definitions again."""
    if space in _spaces:
        vars(_spaces[space]).pop(name, None)


aten = namespace("aten")
sys.modules[f"{ops.__name__}.aten"] = aten
derived.install()
