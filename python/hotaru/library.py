"""Operators that programs define, and kernels for them.

`custom_op` makes an operator of one function; `Library` and the functions here
do the same step by step. Operators so defined are in `torch.ops`, like hotaru's
own, whose kernels cannot be replaced. All functions may be called from any
thread.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable

from . import _ops
from ._function_schema import FunctionSchema, parse_schema
from ._library import keys, table, utils
from ._library import tags as _tags
from ._library.custom_ops import CustomOpDef, custom_op, maybe_opdef
from ._library.infer_schema import infer_schema
from ._library.opcheck import OpCheckError, opcheck
from ._library.simple_registry import singleton

__all__ = [
    "CustomOpDef", "Library", "OpCheckError", "custom_op", "define",
    "fallthrough_kernel", "get_ctx", "impl", "impl_abstract", "infer_schema",
    "opcheck", "register_autocast", "register_autograd", "register_fake",
    "register_kernel", "register_torch_dispatch", "register_vmap",
    "triton_op", "wrap_triton",
]  # fmt: skip

_RESERVED = {"prim"}
# Namespaces that a DEF library has.
_owned = {"aten", "prims"}


def fallthrough_kernel():
    """Registered for a key, says that the key's layer does nothing."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class _Registrations:
    """What a library did; taken back at its end."""

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
                f"{ns} is a reserved namespace. Please try creating a library "
                "with another name."
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
        schema = parse_schema(text)
        namespace, _, name = schema.name.rpartition("::")
        if namespace and namespace != self.ns:
            raise RuntimeError(
                f"Explicitly provided namespace ({namespace}) in schema "
                "string does not match namespace of enclosing "
                f"TORCH_LIBRARY_FRAGMENT block ({self.ns})."
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
            schema.partition("(")[0].strip().partition(".")[0],
            parsed.overload_name,
        )

    def impl(
        self,
        op_name,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Registers a kernel; the last one of a key is called.

        Args:
            op_name: "name.overload", or an overload.
            fn: gets the arguments as the schema says, without those at the
                end that are defaults.
            dispatch_key: "CPU", "CUDA", "Meta", "Autograd", "AutogradCPU",
                "CompositeImplicitAutograd" and so on.
            with_keyset: not supported.
            allow_override: a library may register twice for a key.

        Raises:
            TypeError: `fn` cannot be called.
            RuntimeError: an unknown key, or one that this library registered
                for already.
        """
        self._check_alive()
        if not callable(fn):
            raise TypeError(
                "Input function is required to be a callable but found type "
                f"{type(fn)}"
            )
        if with_keyset:
            raise NotImplementedError(
                "hotaru's calls carry no set of dispatch keys: use the guard "
                "torch._C._AutoDispatchBelowAutograd to call the operator "
                "again below a kernel"
            )
        key = keys.checked(dispatch_key or self.dispatch_key or keys.COMPOSITE)
        qualname = self._qualified(op_name)
        undo = table.register(qualname, key, fn)
        self.m.undo.append(undo)

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
        allow_override: bool = False,
    ) -> None:
        source = source or utils.get_source(_stacklevel + 1)
        entry = singleton.find(self._qualified(op_name))
        undo = entry.fake_impl.register(
            fn, source, allow_override=allow_override
        )
        self.m.undo.append(undo)

    def _register_torch_dispatch_rule(self, op_name, cls, fn) -> None:
        register_torch_dispatch(f"{self.ns}::{op_name}", cls, fn)

    def _check_alive(self) -> None:
        if self.m is None:
            raise AssertionError("Library object has been destroyed")

    def _destroy(self) -> None:
        """Takes away all that it defined and registered."""
        if self.m is not None:
            self.m.end()
        self.m = None


def _undefine(operator) -> None:
    table.remove(operator)
    namespace, _, name = operator.name.partition("::")
    _ops.forget(namespace, name)


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    """A Library that ends with the block."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()


# Libraries of functions that were given none: they live as long as the process.
_keep_alive: list[Library] = []


def _library(namespace: str, lib: Library | None) -> Library:
    if lib is not None:
        return lib
    made = Library(namespace, "FRAGMENT")
    _keep_alive.append(made)
    return made


def define(qualname, schema, alias_analysis="", *, lib=None, tags=()):
    """Defines an operator.

    Called as `define(library, "name(Tensor x) -> Tensor")` it is a decorator:
    the function is the operator's kernel for all devices, and gives its
    gradients.

    Args:
        qualname: "namespace::name.overload".
        schema: "(Tensor x) -> Tensor".
        lib: what it lives as long as; None for as long as the process.
        tags: of the operator.

    Raises:
        ValueError: a name without a namespace, a schema with a name.
    """
    if isinstance(qualname, Library):
        return _define_with(qualname, schema, alias_analysis)
    if not isinstance(qualname, str):
        raise ValueError(
            "define(qualname, schema): expected qualname to be instance of "
            f"str, got {type(qualname)}"
        )
    namespace, name = utils.parse_namespace(qualname)
    if not schema.lstrip().startswith("("):
        raise ValueError(
            "define(qualname, schema, ...): expected schema to look like e.g. "
            f'"(Tensor x) -> Tensor" but got "{schema}"'
        )
    _library(namespace, lib).define(
        name + schema, alias_analysis=alias_analysis, tags=tags
    )
    return None


def _define_with(library: Library, schema: str, alias_analysis: str):
    def decorate(function: Callable) -> Callable:
        name = library.define(schema, alias_analysis)
        library.impl(name, function)
        return function

    return decorate


_DEVICES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu",
    "mtia", "privateuseone",
)  # fmt: skip
_UPPER = {
    "lazy": "Lazy", "meta": "Meta", "privateuseone": "PrivateUse1",
}  # fmt: skip


def _device_type_to_key(device_type: str) -> str:
    if device_type == "default":
        return "CompositeExplicitAutograd"
    if device_type not in _DEVICES:
        raise RuntimeError(
            f"Expected one of {', '.join(_DEVICES)} device type at start of "
            f"device string: {device_type}"
        )
    return _UPPER.get(device_type, device_type.upper())


def impl(qualname, types, func=None, *, lib=None):
    """Registers a kernel for device types.

    Called as `impl(library, name, dispatch_key)` it is a decorator for the
    kernel of a dispatch key.

    Args:
        qualname: "namespace::name.overload".
        types: "cpu", "cuda", "meta", "default" for all; or several; or a
            dispatch key.
        func: the kernel; without it, a decorator is returned.
        lib: what it lives as long as; None for as long as the process.
    """
    if isinstance(qualname, Library):
        return _impl_with(qualname, types, func or "")
    types = (types,) if isinstance(types, str) else types
    chosen = {
        t if t in keys.DispatchKey.__members__ else _device_type_to_key(t)
        for t in types
    }

    def register(function: Callable) -> Callable:
        namespace, name = utils.parse_namespace(qualname)
        library = _library(namespace, lib)
        for key in sorted(chosen):
            library.impl(name, function, key)
        return function

    if func is None:
        return register
    register(func)
    return None


def _impl_with(library: Library, name, dispatch_key: str):
    def decorate(function: Callable) -> Callable:
        library.impl(name, function, dispatch_key)
        return function

    return decorate


def _name_of(op, asked: str) -> str:
    """The name "ns::name.overload" of an operator, its overload or its name."""
    if isinstance(op, CustomOpDef):
        return op._qualname
    if isinstance(op, _ops.OpOverload):
        return op._name
    if not isinstance(op, str):
        raise ValueError(
            f"{asked}({op}): got unexpected type for op: {type(op)}"
        )
    return op


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Registers a kernel for device types; None for all.

    Args:
        op: "namespace::name", an overload, or a CustomOpDef.
        device_types: "cpu", ("cpu", "cuda") or None.
        func: the kernel; without it, a decorator is returned.
        lib: what it lives as long as; None for as long as the process.
    """
    name = _name_of(op, "register_kernel")
    opdef = maybe_opdef(op)
    if opdef is not None:
        return opdef.register_kernel(device_types, func)
    types = (
        "CompositeExplicitAutograd" if device_types is None else device_types
    )

    def register(function: Callable) -> Callable:
        impl(name, types, function, lib=lib)
        return function

    return register if func is None else register(func)


def register_fake(
    op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False
):
    """Registers what says how results look: it runs where arguments are on
    the meta device, gets and returns meta tensors.

    RuntimeError where the operator has one already, or needs none as it is
    made of other operators.
    """
    name = _name_of(op, "register_fake")
    opdef = maybe_opdef(op)
    if opdef is not None:
        register = opdef.register_fake
    else:
        namespace, short = utils.parse_namespace(name)

        def register(function: Callable) -> Callable:
            library = _library(namespace, lib)
            code = getattr(function, "__code__", None)
            source = (
                f"{code.co_filename}:{code.co_firstlineno}"
                if code is not None
                else utils.get_source(_stacklevel + 2)
            )
            library._register_fake(
                short, function, source=source, allow_override=allow_override
            )
            return function

    return register if func is None else register(func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """The older name of `register_fake`."""
    return register_fake(qualname, func, lib=lib, _stacklevel=_stacklevel + 1)


def _defined(name: str, asked: str):
    """The operator of a name; NotImplementedError for hotaru's own."""
    overload = utils.lookup_op(name)
    found = table.find(overload._name)
    if found is None:
        raise NotImplementedError(
            f"{asked}: {name} is one of hotaru's own operators, which have "
            "their derivatives and run under vmap already"
        )
    return found


def register_autograd(
    op, backward: Callable, /, *, setup_context=None, lib=None
) -> None:
    """Registers the derivative of an operator.

    Args:
        op: "namespace::name", an overload, or a CustomOpDef.
        backward: gets a context and the gradients of the results, returns a
            gradient (or None) for each argument.
        setup_context: called as `setup_context(ctx, inputs, output)` after
            the forward call (with `keyword_only_inputs` where the schema has
            such); saves what `backward` needs.
        lib: what it lives as long as; None for as long as the process.

    Raises:
        RuntimeError: the operator writes to arguments or returns views.
        NotImplementedError: tensors that can be given by name alone.
    """
    from ._library.autograd import Info, make_autograd_impl

    name = _name_of(op, "register_autograd")
    opdef = maybe_opdef(op)
    if opdef is not None:
        opdef.register_autograd(backward, setup_context=setup_context)
        return
    operator = _defined(name, "register_autograd")
    schema = operator.schema
    if not utils.is_functional_schema(schema):
        raise RuntimeError(
            "Cannot register autograd formula for non-functional operator "
            f"{name} with schema {schema}. Please create a functional operator "
            "and register an autograd formula for that."
        )
    _refuse_named_tensors(schema, "register_autograd")
    formula = Info(backward, setup_context)
    namespace, short = utils.parse_namespace(operator.qualname)
    kernel = make_autograd_impl(operator, formula, name)
    _library(namespace, lib).impl(short, kernel, "Autograd")


def _refuse_named_tensors(schema: FunctionSchema, asked: str) -> None:
    if utils.has_kwarg_only_tensors(schema):
        raise NotImplementedError(
            f"{asked} with kwarg-only Tensor args. In the original definition "
            "of the op, please make your tensors not kwarg-only. Got: "
            f"{schema}"
        )


def register_vmap(op, func=None, /, *, lib=None):
    """Registers a batching rule, `func(info, in_dims, *args)`, which returns
    the results and the dimension of each that is the batch's.

    `vmap` calls it where the function that it maps is the operator itself.
    Within other functions, which hotaru's `vmap` runs once for each slice, the
    operator's kernel is called for each slice.
    """
    name = _name_of(op, "register_vmap")
    operator = _defined(name, "register_vmap")
    _refuse_named_tensors(operator.schema, "register_vmap")

    def register(function: Callable) -> Callable:
        operator.vmap = function
        return function

    return register if func is None else register(func)


def register_autocast(op, device_type: str, cast_inputs, /, *, lib=None):
    """Under autocast for a device type, casts floating point arguments to
    `cast_inputs` and calls the operator with autocast off.

    ValueError for device types without autocast.
    """
    name = _name_of(op, "register_autocast")
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    operator = _defined(name, "register_autocast")
    operator.autocast[device_type] = cast_inputs


def register_torch_dispatch(
    op, torch_dispatch_class, func=None, /, *, lib=None
):
    """NotImplementedError: hotaru calls no `__torch_dispatch__`.

    `__torch_function__`, of a class or a TorchFunctionMode, sees calls of
    operators that Python defined.
    """
    raise NotImplementedError(
        "hotaru calls no __torch_dispatch__: give the class a "
        "__torch_function__, or use torch.overrides.TorchFunctionMode, which "
        "sees calls of operators defined in Python too"
    )


def get_ctx():
    """What a fake kernel asks for sizes that depend on values; such sizes are
    refused, as shapes on the meta device are numbers.

    RuntimeError outside of a fake kernel.
    """
    from ._library.fake_impl import get_ctx as current

    found = current()
    if found is None:
        raise RuntimeError(
            "torch.library.get_ctx() can only be called inside of a fake kernel"
        )
    return found


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """RuntimeError: hotaru launches no kernels written in Triton."""
    raise RuntimeError(
        "hotaru launches no kernels written in Triton: register a kernel for "
        "the device with torch.library.custom_op"
    )


def wrap_triton(triton_kernel, /):
    """RuntimeError: hotaru launches no kernels written in Triton."""
    return triton_op("", triton_kernel, mutates_args=())
