"""Overloads: an operator with one of its signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _C, Tensor
from .._function_schema import parse_schema
from .._function_schema.signatures import signature
from .._late import lent
from .._operators import dispatch, native_tags, own, questions
from .._operators.arguments import bind, missing, unknown

if TYPE_CHECKING:
    from .packets import OpOverloadPacket


def _parameters(schema: str) -> list:
    return list(signature(schema).parameters.values())


def arguments_of(args, kwargs) -> list:
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
        """True if a program defined it."""
        return False

    @property
    def tags(self) -> list:
        """Assumptions for compilers and tests, a list of torch.Tag."""
        return native_tags.of(self.name())

    @property
    def is_view(self) -> bool:
        """True if a result is a view of an argument."""
        return self._schema._is_view_op()

    def name(self) -> str:
        """As in "aten::add.Tensor"."""
        return f"{self.namespace}::{self._text.partition('(')[0]}"

    def has_kernel_for_dispatch_key(self, key) -> bool:
        """True if a kernel is registered for the key itself."""
        return questions.has_kernel_for_dispatch_key(self.name(), key)

    def __repr__(self) -> str:
        return (
            f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"
        )

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __call__(self, /, *args, **kwargs):
        relevant = tuple(arguments_of(args, kwargs))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        return self._run(args, kwargs)

    def _run(self, args, kwargs):
        self._check(args, kwargs)
        try:
            return self.overloadpacket.op(*args, **kwargs)
        except TypeError:
            bind(self._schema, args, kwargs)  # RuntimeError: they do not fit
            raise

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
                text = missing(self._packet_name(), name, self._schema)
                raise RuntimeError(text)
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
                text = unknown(self._packet_name(), name, self._schema)
                raise RuntimeError(text)

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
    """The form of another overload that writes into tensors, `out=`.

    PyTorch has a name of its own for each; here they are made where they are
    asked for and stand in no list. `outs` are the names of the arguments that
    are written to, of which one for a list of tensors ends in "[]".
    """

    def __init__(
        self,
        packet: OpOverloadPacket,
        name: str,
        base: str,
        outs: tuple[str, ...] = ("out",),
    ) -> None:
        _, _, overload = base.partition("(")[0].partition(".")
        self.base = overload or "default"
        head, _, _ = base.rpartition(" -> ")
        start, _, arguments = head.removesuffix(")").partition("(")
        star = "" if "*, " in arguments else ", *"
        operator = start.partition(".")[0]
        kinds = [
            f"Tensor({mark}!)" + ("[]" if out.endswith("[]") else "")
            for mark, out in zip("abcdefgh", outs)
        ]
        self.outs = tuple(out.removesuffix("[]") for out in outs)
        declared = ", ".join(map(" ".join, zip(kinds, self.outs)))
        given = ", ".join(kinds)
        if len(kinds) > 1:
            given = f"({declared})"
        elif outs[0].endswith("[]"):
            given = "()"
        super().__init__(
            packet, name, f"{operator}.{name}({arguments}{star}, {declared}) -> {given}"
        )

    def _check(self, args, kwargs) -> None:
        for name in self.outs:
            if not isinstance(kwargs.get(name), (Tensor, list, tuple)):
                text = missing(self._packet_name(), name, self._schema)
                raise RuntimeError(text)
        super()._check(args, kwargs)

    def _run(self, args, kwargs):
        self._check(args, kwargs)
        if self.outs == ("out",):
            return self.overloadpacket.op(*args, **kwargs)
        rest = {k: v for k, v in kwargs.items() if k not in self.outs}
        out = tuple(kwargs[name] for name in self.outs)
        out = out[0] if len(out) == 1 else out
        return self.overloadpacket.op(*args, **rest, out=out)


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
        """Tags that it was defined with."""
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
    """Finds the overload that pickles refer to."""
    return getattr(getattr(lent("namespace")(space), packet), name)
