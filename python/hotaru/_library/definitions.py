"""Libraries: what defines operators and registers kernels, and takes all of it
back at its end.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections import Counter
from collections.abc import Callable

from .. import _ops
from .._function_schema import FunctionSchema, parse_schema
from .._operators import keys, table
from .._operators import tags as _tags
from . import rules, utils
from .simple_registry import singleton

_RESERVED = {"prim"}
# Namespaces that a DEF library has.
_owned = {"aten", "prims"}
_DEVICES = (
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
)
_UPPER = {"lazy": "Lazy", "meta": "Meta", "privateuseone": "PrivateUse1"}


def device_type_to_key(device_type: str) -> str:
    """The dispatch key of "cpu" and the like, and of "default".

    RuntimeError for what is no device type.
    """
    if device_type == "default":
        return "CompositeExplicitAutograd"
    if device_type not in _DEVICES:
        raise RuntimeError(
            f"Expected one of {', '.join(_DEVICES)} device type at start of "
            f"device string: {device_type}"
        )
    return _UPPER.get(device_type, device_type.upper())


class _Registrations:
    """Registrations that a library made; taken back at its end."""

    def __init__(self) -> None:
        self.undo: list[Callable] = []
        self.end = weakref.finalize(self, _taken_back, self.undo)
        self.end.atexit = False


def _taken_back(steps: list[Callable]) -> None:
    while steps:
        steps.pop()()


class Library:
    """Definitions and kernels in one namespace, for as long as it lives.

    Args:
        ns: the namespace.
        kind: "DEF" for the one library that owns a namespace, "FRAGMENT" for
            others that define operators in it, "IMPL" for kernels alone.
        dispatch_key: what `impl` registers for where it is told no key.

    Raises:
        ValueError: another kind, or a reserved namespace.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(
                f"{ns} is a reserved namespace. "
                "Please try creating a library with another name."
            )
        if kind == "DEF" and ns in _owned:
            raise RuntimeError(
                "Only a single TORCH_LIBRARY can be used to register the "
                f"namespace {ns}; please put all of your definitions in a "
                "single TORCH_LIBRARY block."
            )
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._op_defs: set[str] = set()
        self.m: _Registrations | None = _Registrations()

    def __repr__(self) -> str:
        return (
            f"Library(kind={self.kind}, ns={self.ns}, "
            f"dispatch_key={self.dispatch_key})>"
        )

    def _parsed(self, text: str) -> FunctionSchema:
        schema = parse_schema(text, allow_typevars=False)
        namespace, _, name = schema.name.rpartition("::")
        if namespace and namespace != self.ns:
            raise RuntimeError(
                f"Explicitly provided namespace ({namespace}) in schema string "
                "does not match namespace of enclosing TORCH_LIBRARY_FRAGMENT "
                f"block ({self.ns}).  Move this definition to the (unique) "
                "TORCH_LIBRARY block corresponding to this namespace (and "
                "consider deleting the namespace from your schema string.)"
            )
        return FunctionSchema(
            f"{self.ns}::{name}",
            schema.overload_name,
            schema.arguments,
            schema.returns,
            schema.is_vararg,
            schema.is_varret,
        )

    def define(self, schema: str, alias_analysis: str = "", *, tags=()) -> str:
        """Defines an operator; returns its name.

        RuntimeError for a text that is no schema, or a name that is taken.
        """
        self._check_alive()
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError(
                "def(...): Cannot define an operator inside of a "
                "TORCH_LIBRARY_IMPL block. All def()s should be placed in the "
                "(unique) TORCH_LIBRARY block for their namespace."
            )
        parsed = self._parsed(schema)
        operator = table.define(parsed, _tags.listed(tags), utils.get_source(2))
        name = parsed.name.partition("::")[2]
        _ops.forget(self.ns, name)
        self._op_defs.add(operator.qualname)
        self.m.undo.append(functools.partial(_undefine, operator))
        return table.qualified(
            schema.partition("(")[0].strip().partition(".")[0], parsed.overload_name
        )

    def impl(
        self,
        op_name,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Registers a kernel; the last one of a key is called.

        Args:
            op_name: "name.overload", or an overload.
            fn: gets the arguments as the schema says, without those at the
                end that are defaults.
            dispatch_key: "CPU", "CUDA", "Meta", "Autograd", "AutogradCPU",
                "CompositeImplicitAutograd" and so on.
            with_keyset: not supported.
            allow_override: the operator may have a kernel for the key that
                Python registered.

        Raises:
            TypeError: `fn` cannot be called.
            RuntimeError: an unknown key; without `allow_override` one that
                has a kernel.
        """
        self._check_alive()
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        if with_keyset:
            raise NotImplementedError(
                "hotaru's calls carry no set of dispatch keys: use the guard "
                "torch._C._AutoDispatchBelowAutograd to call the operator "
                "again below a kernel"
            )
        key = keys.checked(dispatch_key or self.dispatch_key or keys.COMPOSITE)
        qualname = self._qualified(op_name)
        taken = (qualname, key)
        if not allow_override and taken in _taken:
            name = qualname.partition("::")[2]
            raise RuntimeError(
                "This is not allowed since there's already a kernel registered "
                f"from python overriding {name}'s behavior for {key} dispatch key "
                f"and {self.ns} namespace."
            )
        undo = table.register(qualname, key, fn)
        self.m.undo.append(undo)
        _taken[taken] += 1
        self.m.undo.append(functools.partial(_give_up, taken))

    def _qualified(self, op_name) -> str:
        if isinstance(op_name, str):
            namespace, _, name = op_name.rpartition("::")
        elif isinstance(op_name, _ops.OpOverload):
            namespace, _, name = op_name._name.rpartition("::")
        else:
            raise RuntimeError(
                "impl should be passed either a name or an OpOverload object "
                f"as the first argument, got {type(op_name)}"
            )
        if namespace not in ("", self.ns):
            raise RuntimeError(
                f"this library is for the namespace {self.ns}, the operator "
                f"is in {namespace}"
            )
        return f"{self.ns}::{name.removesuffix('.default')}"

    def _register_fake(
        self,
        op_name: str,
        fn: Callable,
        _stacklevel: int = 1,
        *,
        source: str | None = None,
        allow_override: bool = True,
    ) -> None:
        source = source or utils.get_source(_stacklevel + 1)
        entry = singleton.find(self._qualified(op_name))
        undo = entry.fake_impl.register(fn, source, allow_override=allow_override)
        self.m.undo.append(undo)

    def _register_torch_dispatch_rule(self, op_name, cls, fn) -> None:
        """Makes `fn` answer an operator for a mode's class or a class of
        tensors, instead of its `__torch_dispatch__`.

        RuntimeError where there is a rule already.
        """
        self._check_alive()
        qualname = self._qualified(op_name)
        self.m.undo.append(rules.register_dispatch(qualname, cls, fn))

    def _check_alive(self) -> None:
        if self.m is None:
            raise AssertionError("Library object has been destroyed")

    def _destroy(self) -> None:
        """Takes away all that it defined and registered."""
        if self.m is not None:
            self.m.end()
        self.m = None


# How often Python registered a kernel for an operator and a key.
_taken: Counter = Counter()


def _give_up(taken: tuple[str, str]) -> None:
    _taken[taken] -= 1
    if not _taken[taken]:
        del _taken[taken]


def _undefine(operator) -> None:
    table.remove(operator)
    namespace, _, name = operator.name.partition("::")
    _ops.forget(namespace, name)


@contextlib.contextmanager
def scoped_library(*args, **kwargs):
    """A Library that ends with the block."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()
