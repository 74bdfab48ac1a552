"""Definitions of operators, and kernels by device type or dispatch key."""

from __future__ import annotations

from collections.abc import Callable

from .._library import utils
from .._library.definitions import Library, device_type_to_key
from .._operators import keys

# Libraries of functions that were given none: they live as long as the process.
_keep_alive: list[Library] = []


def library_of(namespace: str, lib: Library | None) -> Library:
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
    library_of(namespace, lib).define(
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
        t if t in keys.DispatchKey.__members__ else device_type_to_key(t) for t in types
    }

    def register(function: Callable) -> Callable:
        namespace, name = utils.parse_namespace(qualname)
        library = library_of(namespace, lib)
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
