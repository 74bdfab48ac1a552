"""Further registrations for an operator that is defined."""

from __future__ import annotations

from collections.abc import Callable

from .. import _ops
from .._library import rules, utils
from .._library.autograd import Info, make_autograd_impl
from .._library.custom_ops import CustomOpDef, maybe_opdef
from .._operators import table
from ._definitions import impl, library_of


def _name_of(op, asked: str) -> str:
    """The name "ns::name.overload" of an operator, its overload or its name."""
    if isinstance(op, CustomOpDef):
        return op._qualname
    if isinstance(op, _ops.OpOverload):
        return op._name
    if not isinstance(op, str):
        raise ValueError(f"{asked}({op}): got unexpected type for op: {type(op)}")
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
    types = "CompositeExplicitAutograd" if device_types is None else device_types

    def register(function: Callable) -> Callable:
        impl(name, types, function, lib=lib)
        return function

    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=True):
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
            library = library_of(namespace, lib)
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
    rules.require_functional(operator, schema)
    rules.refuse_named_tensors(schema, "register_autograd")
    formula = Info(backward, setup_context)
    namespace, short = utils.parse_namespace(operator.qualname)
    kernel = make_autograd_impl(operator, formula)
    library_of(namespace, lib).impl(short, kernel, "Autograd")


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


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
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
        library_of(namespace, lib)._register_torch_dispatch_rule(
            short, torch_dispatch_class, function
        )
        return function

    return register if func is None else register(func)
