"""Marks programs write for the compiler alone; Python sees plain values."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import textwrap
import threading
import typing
import warnings
from typing import Any, Callable

Final = typing.Final

EXPORT, IGNORE, UNUSED, DROP = "export", "ignore", "unused", "drop"
# PyTorch's text, which libraries' own marks are made of.
COPIED = (
    "if this method is not scripted, copy the python method onto the scripted model"
)
MARK = "_hotaru_script_mark"
# Mark of classes that declare an interface.
INTERFACE = "__hotaru_interface__"


def mark_of(function) -> str | None:
    """EXPORT, IGNORE, UNUSED, DROP or None."""
    if builtins.isinstance(function, property):
        function = function.fget
    return getattr(function, MARK, None)


def copied(function):
    """Marks a method that a compiled module has in Python, too, where it is
    not compiled; gives it back.
    """
    function._torchscript_modifier = COPIED
    return function


def is_copied(function) -> bool:
    """True if it has that mark."""
    return getattr(function, "_torchscript_modifier", None) == COPIED


def is_interface(cls) -> bool:
    """True if the class itself declares an interface."""
    return INTERFACE in vars(cls)


def _marked(function, mark: str):
    setattr(function, MARK, mark)
    return function


def _overload(func: Callable) -> Callable:
    """Declares a signature of the function of that name which is defined next.

    Python calls the definition. Compiled code has it once for each signature,
    and calls the first one that takes its arguments.
    """
    _check_declaration(func)
    key = func.__module__, func.__qualname__
    _overloads.setdefault(key, []).append(func)
    return func


_BODY = """Only `pass` statement or `...` can be the body of overload declaration:
{} <- Expecting `pass` or `...` here!

Example usage of overload function:
@torch.jit._overload
def my_function(x: type0) -> type0: # decl 1
    pass

@torch.jit._overload
def my_function(x: type1) -> type1: # decl 2
    pass

def my_function(x):                 # implementation
    if isinstance(x, type0):
        return x
    elif isinstance(x, type1):
        return x
"""


def _check_declaration(func: Callable) -> None:
    """RuntimeError if the declared signature has a body."""
    try:
        source = textwrap.dedent(inspect.getsource(func))
        body = ast.parse(source).body[0].body
    except (OSError, SyntaxError, TypeError):
        return  # of an interactive session
    first = body[0]
    empty = builtins.isinstance(first, ast.Pass) or (
        builtins.isinstance(first, ast.Expr)
        and builtins.isinstance(first.value, ast.Constant)
        and first.value.value is ...
    )
    if len(body) != 1 or not empty:
        raise RuntimeError(_BODY.format("\n".join(source.split("\n")[:3])))


def _overload_method(func: Callable) -> Callable:
    """The same for methods."""
    return _overload(func)


# Declared signatures, by module and qualified name, of functions that no
# program has used yet.
_overloads: dict = {}
_DECLARED = "_hotaru_overloads"


def overloads_of(function) -> list:
    """The signatures that were declared for a function, as functions."""
    known = getattr(function, _DECLARED, None)
    if known is None:
        key = function.__module__, function.__qualname__
        known = _overloads.get(key, [])
        if not known:
            return []
        if function in known:
            method = "." in function.__qualname__.rpartition("<locals>.")[2]
            raise RuntimeError(
                f"Implementation for the {'method' if method else 'function'} "
                f'"{function.__name__}" is missing. Please make sure a definition '
                "is provided and defined after all overload declarations."
            )
        # The name may be used again, for another function.
        del _overloads[key]
        setattr(function, _DECLARED, known)
    return known


def export(fn: Callable) -> Callable:
    """Compiles the method even if nothing calls it."""
    return _marked(fn, EXPORT)


# The mark of methods in classes that inherit from ScriptModule.
script_method = export


def unused(fn: Callable) -> Callable:
    """Leaves the function out: compiled code that calls it raises."""
    if builtins.isinstance(fn, property):
        _marked(fn.fget, UNUSED)
        return fn
    return _marked(fn, UNUSED)


def _drop(fn: Callable) -> Callable:
    """Leaves the function out, whatever its signature is."""
    return _marked(fn, DROP)


def ignore(drop: bool | Callable = False, **kwargs) -> Callable:
    """Leaves the function to Python; with `drop=True` the same as `unused`."""
    if callable(drop):
        return _marked(drop, IGNORE)
    return lambda fn: _marked(fn, UNUSED if drop else IGNORE)


def annotate(the_type: Any, the_value: Any) -> Any:
    """`the_value`, which the compiler takes to be of `the_type`."""
    return the_value


def _unwrap_optional(x: Any) -> Any:
    """`x`; AssertionError for None."""
    assert x is not None, "Unwrapping null optional"
    return x


class Attribute(typing.NamedTuple):
    """A module's attribute with its type: `self.x = Attribute(3, int)`."""

    value: Any
    type: Any


def isinstance(obj: Any, target_type: Any) -> bool:
    """`isinstance` that looks into containers: `List[int]` holds only ints.

    Warns of an empty container, of which nothing is told. RuntimeError:
    `target_type` is no type, or a List and the like that does not say of what.
    """
    check_empty_containers(obj)
    return _holds(obj, target_type)


_BARE = {
    getattr(typing, name): f"Attempted to use {name} without {text}"
    for name, text in (
        ("List", "a contained type. Please add a contained type, e.g. List[int]"),
        ("Tuple", "a contained type. Please add a contained type, e.g. Tuple[int]"),
        (
            "Optional",
            "a contained type. Please add a contained type, e.g. Optional[int]",
        ),
        ("Dict", "contained types. Please add contained type, e.g. Dict[int, int]"),
    )
}


def check_contained(wanted) -> None:
    """RuntimeError for a List and the like that does not say of what."""
    if builtins.isinstance(wanted, typing.Hashable) and wanted in _BARE:
        raise RuntimeError(_BARE[wanted])


def check_empty_containers(obj) -> None:
    """Warns of an empty list, dict or tuple: nothing tells what it is of."""
    if builtins.isinstance(obj, (list, dict, tuple)) and len(obj) == 0:
        warnings.warn(
            "The inner type of a container is lost when calling "
            "torch.jit.isinstance in eager mode. For example, List[int] would "
            "become list and therefore falsely return True for List[float] or "
            "List[str].",
            stacklevel=3,
        )


def _holds(value, wanted) -> bool:
    if type(wanted) is tuple:
        return any(_holds(value, item) for item in wanted)
    check_contained(wanted)
    origin, args = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is None:
        wanted = type(None) if wanted is None else wanted
        if wanted is not Any and not builtins.isinstance(wanted, type):
            raise RuntimeError(
                "The second argument to `torch.jit.isinstance` must be a type "
                "or a tuple of types"
            )
        return wanted is Any or builtins.isinstance(value, wanted)
    if origin in (list, dict, tuple) and not builtins.isinstance(value, origin):
        return False
    if origin is list:
        return all(_holds(item, args[0]) for item in value)
    if origin is dict:
        return all(_holds(k, args[0]) and _holds(v, args[1]) for k, v in value.items())
    if origin is tuple:
        return len(value) == len(args) and all(map(_holds, value, args))
    return any(_holds(value, item) for item in args)  # a Union


def is_scripting() -> bool:
    """False: this is Python. True in compiled code."""
    return False


@contextlib.contextmanager
def optimized_execution(should_optimize: bool):
    """A block with or without optimizations that take a program's first calls
    to prepare. There are none here, so programs run the same in both.
    """
    yield


class _Trace(threading.local):
    """How many traces of this thread are going on, one within the other."""

    depth = 0


_trace = _Trace()


@contextlib.contextmanager
def tracing():
    """A block in which functions are traced."""
    _trace.depth += 1
    try:
        yield
    finally:
        _trace.depth -= 1


def is_tracing() -> bool:
    """True if `trace` runs this function; False in compiled code."""
    return _trace.depth > 0
