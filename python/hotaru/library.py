"""Operators that programs define, and kernels for them.

`custom_op` makes an operator of one function; `Library` and the functions here
do the same step by step. Operators so defined are in `torch.ops`, like hotaru's
own, whose kernels cannot be replaced. All functions may be called from any
thread.
"""

from __future__ import annotations

from collections.abc import Callable

from . import _ops
from ._library import definitions, fake_impl, rules, utils
from ._library.autograd import Info, make_autograd_impl
from ._library.custom_ops import CustomOpDef, custom_op, maybe_opdef
from ._library.definitions import (
    Library,
    device_type_to_key,
)
from ._library.infer_schema import infer_schema
from ._library.opcheck import OpCheckError, opcheck
from ._operators import keys, table
from ._operators.keys import fallthrough_kernel

__all__ = [
    "CustomOpDef", "Library", "OpCheckError", "custom_op", "define",
    "fallthrough_kernel", "get_ctx", "impl", "impl_abstract", "infer_schema",
    "opcheck", "register_autocast", "register_autograd", "register_fake",
    "register_kernel", "register_torch_dispatch", "register_vmap",
    "triton_op", "wrap_triton",
]  # fmt: skip

_scoped_library = definitions.scoped_library
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
        t if t in keys.DispatchKey.__members__ else device_type_to_key(t)
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
            f"{operator} with schema {schema}. Please create a functional "
            "operator and register an autograd formula for that."
        )
    rules.refuse_named_tensors(schema, "register_autograd")
    formula = Info(backward, setup_context)
    namespace, short = utils.parse_namespace(operator.qualname)
    kernel = make_autograd_impl(operator, formula)
    _library(namespace, lib).impl(short, kernel, "Autograd")


def register_vmap(op, func=None, /, *, lib=None):
    """Registers a batching rule, `func(info, in_dims, *args)`, which returns
    the results and the dimension of each that is the batch's.

    `vmap` calls it where the function that it maps is the operator itself.
    Within other functions, which hotaru's `vmap` runs once for each slice, the
    operator's kernel is called for each slice.
    """
    name = _name_of(op, "register_vmap")
    return rules.register_vmap(_defined(name, "register_vmap"), func)


def register_autocast(op, device_type: str, cast_inputs, /, *, lib=None):
    """Under autocast for a device type, casts floating point arguments to
    `cast_inputs` and calls the operator with autocast off.

    ValueError for device types without autocast.
    """
    name = _name_of(op, "register_autocast")
    operator = _defined(name, "register_autocast")
    rules.register_autocast(operator, device_type, cast_inputs)


def register_torch_dispatch(
    op, torch_dispatch_class, func=None, /, *, lib=None
):
    """Registers what answers an operator for a class or mode with a
    `__torch_dispatch__`, instead of that.

    Args:
        op: a name, an overload or what `custom_op` gave.
        torch_dispatch_class: a class of tensors, or a TorchDispatchMode.
        func: (class or mode, operator, types, args, kwargs) -> the answer;
            without it a decorator is returned.

    RuntimeError where the class has a rule for the operator already.
    """
    name = _name_of(op, "register_torch_dispatch")
    opdef = maybe_opdef(op)
    if opdef is not None:
        return opdef.register_torch_dispatch(torch_dispatch_class, func)
    namespace, short = utils.parse_namespace(name)

    def register(function: Callable) -> Callable:
        _library(namespace, lib)._register_torch_dispatch_rule(
            short, torch_dispatch_class, function
        )
        return function

    return register if func is None else register(func)


def get_ctx():
    """What a fake kernel asks for sizes that depend on values; such sizes are
    refused, as shapes on the meta device are numbers.

    RuntimeError outside of a fake kernel.
    """
    found = fake_impl.get_ctx()
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
