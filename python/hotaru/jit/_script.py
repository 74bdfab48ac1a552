"""`script`: functions, classes and modules compiled from their source."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from .. import _C
from ..nn import Module
from . import _marks, _state
from ._containers import container
from ._module import (
    RecursiveScriptModule,
    ScriptModule,
    unpackage_script_module,  # noqa: F401  (pickles look for it here)
)
from ._script_module import prepared, script_module
from ._scripter import _UNIT, SCRIPTER, ScriptFunction
from .frontend import NotSupportedError, UnknownAnnotationError

# Errors that are ValueErrors, as the compiler words them.
_VALUES = ("Type annotations on instance attributes", "Unknown type annotation: ")


def enum_type(cls: type):
    """The type of an Enum class, for members that programs receive.

    Raises:
        TypeError: the members' values are not all ints, floats or strings.
    """
    known = SCRIPTER._classes.get(cls)
    if known is not None:
        return known
    try:
        with _UNIT:
            return SCRIPTER.class_type(cls)
    except RuntimeError as error:
        raise TypeError(str(error)) from None


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None) -> Any:
    """Compiles a function, a class or a module from its source.

    Args:
        obj: a function; an instance of `nn.Module`, of which `forward`,
            exported methods and what they call are compiled; a class; or a
            list or dict, of which a copy is made that compiled functions
            share instead of copying it.
        optimize, _rcb, example_inputs: accepted and ignored.
        _frames_up: how many callers up a class finds the names around it.

    Returns:
        A `ScriptFunction`, a `ScriptModule` that shares the module's tensors,
        the class itself, or a `ScriptList` or `ScriptDict`. Functions and
        modules may be called from several threads at once.

    An object, or a module inside of one, with `__prepare_scriptable__` is
    compiled as what that returns.

    Raises:
        RuntimeError: the source is not TorchScript; the text shows file, line
            and the part at fault. NotSupportedError, which is one, for syntax
            that TorchScript leaves out. OSError: there is no source.
    """
    if not _state._enabled or isinstance(obj, (RecursiveScriptModule, ScriptFunction)):
        return obj
    if isinstance(obj, (list, dict)):
        return container(obj, _UNIT)
    if not inspect.isclass(obj):
        obj = prepared(obj)
    near = sys._getframe(_frames_up + 1).f_locals
    with _UNIT:
        SCRIPTER.not_supported = None
        try:
            return _script(obj, near)
        except RuntimeError as error:
            if isinstance(error, UnknownAnnotationError) or str(error).startswith(
                _VALUES
            ):
                raise ValueError(
                    str(error).replace(":\n  File", "   File", 1)
                ) from None
            if SCRIPTER.not_supported is None:
                raise
            # In a function that this one calls.
            raise NotSupportedError(str(error)) from None


def _script(obj, near: dict):
    if isinstance(obj, Module):
        return script_module(obj)
    if inspect.isclass(obj):
        if issubclass(obj, Module) and not _marks.is_interface(obj):
            raise RuntimeError(
                f"Type '{obj}' cannot be compiled since it inherits from "
                "nn.Module, pass an instance instead"
            )
        SCRIPTER.class_type(obj, near)
        return obj
    if isinstance(obj, _C.Function):
        obj = inspect.unwrap(obj)
    if inspect.isfunction(obj) or inspect.ismethod(obj):
        return _script_function(obj)
    if any(map(inspect.isfunction, vars(type(obj)).values())):
        return SCRIPTER.instance(obj, near)
    raise TypeError(
        f"script: expected a function, a class or a module, not {type(obj)}"
    )


def script_if_tracing(fn):
    """Makes traces call the function as a compiled one.

    Its conditions and loops then stay in the program. Outside of traces the
    function is what it was; in compiled code it is compiled as any other.
    """

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        if not _marks.is_tracing():
            return fn(*args, **kwargs)
        return script(fn)(*args, **kwargs)

    return wrapper


def _script_function(function) -> ScriptFunction:
    if inspect.ismethod(function):
        raise RuntimeError(
            f"the bound method {function.__qualname__!r} cannot be compiled "
            "alone; compile the module that it belongs to"
        )
    if _marks.overloads_of(inspect.unwrap(function)):
        raise RuntimeError(
            f"Function {function.__qualname__} cannot be directly compiled "
            "because it is overloaded. It must be used in a context of a "
            "function where its inputs can determine which overload to call."
        )
    compiled = SCRIPTER.function(inspect.unwrap(function))
    try:
        compiled._compile()
    except Exception:
        SCRIPTER._functions.pop(function, None)
        raise
    functools.update_wrapper(
        compiled, function, assigned=("__name__", "__qualname__", "__doc__"), updated=()
    )
    return compiled


# Subclasses compile themselves when they are made.
type(ScriptModule).compile = staticmethod(script)
