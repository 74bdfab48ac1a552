"""The protocol `__torch_function__`: classes and modes that answer operators.

A class defines

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): ...

and is asked whenever one of its objects is an argument of a function of this
package, or an item of a list there. A `TorchFunctionMode` is asked for every
call inside of its `with`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import keyword
import warnings

import hotaru

from . import _C
from ._C import Tensor
from ._late import lent
from ._overrides import has_torch_function

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

has_torch_function_variadic = _C._overridden
has_torch_function_unary = _C._overridden


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What those among `relevant_args` answer to `public_api(*args, **kwargs)`.

    Subclasses are asked before their bases, else from left to right; TypeError
    where all of them return NotImplemented.
    """
    return _C._handle_torch_function(
        public_api, tuple(relevant_args), args, kwargs
    )


def wrap_torch_function(dispatcher):
    """Decorates a function so that the protocol sees its calls.

    `dispatcher` takes the function's arguments and returns those to ask.
    """

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def is_tensor_like(inp) -> bool:
    """Whether it is a tensor or answers operators as one."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def get_default_nowrap_functions() -> set:
    """Functions whose results stay plain tensors by default."""
    from ._overrides import _unwrapped

    return _unwrapped()


# --- names --------------------------------------------------------------------


def _places():
    """Where functions are public, with the names of the places."""
    for name in hotaru._offered():  # also those that nobody has asked for yet
        getattr(hotaru, name)
    return (
        ("torch", hotaru),
        ("torch.functional", hotaru.functional),
        ("torch.nn.functional", hotaru.nn.functional),
        ("torch.nn.init", hotaru.nn.init),
        ("torch.Tensor", Tensor),
        ("torch.linalg", hotaru.linalg),
        ("torch.fft", hotaru.fft),
        ("torch.special", hotaru.special),
    )


_CALLABLES = (_C.Op, _C.Function)
_SLOT = type(Tensor.__add__)
_METHOD = type(Tensor.dim)
_GETTER = type(Tensor.shape)


def _functions_of(place) -> list:
    """The names and functions of a place that the protocol sees."""
    found = []
    for name, value in sorted(vars(place).items()):
        if place is Tensor:
            if isinstance(value, (property, _GETTER)):
                if name != "__dict__":
                    found.append((name, value.__get__))
            elif isinstance(value, (*_CALLABLES, _SLOT, _METHOD)):
                found.append((name, value))
        elif isinstance(value, _CALLABLES) and not name.startswith("__"):
            found.append((name, value))
    return found


_PREFIXES = ("fft_", "linalg_", "special_")


@functools.cache
def _all() -> tuple[dict, dict]:
    """Functions by place, and the name of each."""
    by_place, names = {}, {}
    for text, place in _places():
        functions = _functions_of(place)
        by_place[place] = [f for _, f in functions if not _is_ignored(f)]
        for name, function in functions:
            if place is hotaru and name.startswith(_PREFIXES):
                continue  # linalg_svd is torch.linalg.svd
            suffix = ".__get__" if function.__name__ == "__get__" else ""
            names.setdefault(function, f"{text}.{name}{suffix}")
    return by_place, names


def resolve_name(f) -> str | None:
    """The public name of a function, "torch.add"; None if it is none."""
    return _all()[1].get(f)


def get_overridable_functions() -> dict:
    """Lists of the functions that the protocol sees, by module or class."""
    return _all()[0]


def is_tensor_method_or_property(func) -> bool:
    """Whether it is a method of Tensor, or the getter of an attribute."""
    name = resolve_name(func)
    return func.__name__ == "__get__" or bool(
        name and name.startswith("torch.Tensor.")
    )


_IGNORED = [
    "__class__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__doc__",
    "__getattribute__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
    "__torch_function__",
    "__weakref__",
    "__hash__",
    "__array_priority__",
]


def _is_ignored(function) -> bool:
    return getattr(function, "__name__", "") in _IGNORED


def get_ignored_functions() -> set:
    """Public functions that the protocol does not see: what takes no tensors,
    and what makes them.
    """
    seen = set(_all()[1])
    ignored = {
        value
        for _, place in _places()
        for name, value in vars(place).items()
        if callable(value)
        and not name.startswith("_")
        and not isinstance(value, type)
        and _hashable(value)
        and value not in seen
    }
    return ignored | {handle_torch_function, has_torch_function, is_tensor_like}


def _hashable(value) -> bool:
    return type(value).__hash__ is not None


def get_testing_overrides() -> dict:
    """For each function that the protocol sees one with its parameters that
    returns -1.
    """
    return {f: _stand_in(f) for f in _all()[1] if not _is_ignored(f)}


def _stand_in(function):
    def answer(*args, **kwargs):
        return -1

    answer.__name__ = function.__name__
    answer.__signature__ = _signature(function)
    return answer


def _signature(function) -> inspect.Signature:
    if isinstance(function, _C.Op):
        return _schema_signature(_C._op_schemas(function.__name__)[0])
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        names = ["self"]
        if resolve_name(function).endswith(".__setitem__"):
            names += ["index", "value"]
        elif isinstance(function, _SLOT) and not _is_unary(function):
            names += ["other"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(n, kind) for n in names])


def _is_unary(slot) -> bool:
    return slot.__name__ in [
        "__abs__",
        "__bool__",
        "__float__",
        "__index__",
        "__int__",
        "__invert__",
        "__iter__",
        "__len__",
        "__neg__",
        "__pos__",
    ]


def _schema_signature(text: str) -> inspect.Signature:
    """Parameters from "add(Tensor self, *, Scalar alpha=1) -> Tensor"."""
    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    parameters, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in _split(inside):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        declared, _, default = part.partition("=")
        name = declared.split()[-1]
        name = name + "_" if keyword.iskeyword(name) else name
        name = "input" if name == "self" and not parameters else name
        value = None if default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=value))
    return inspect.Signature(parameters)


def _split(inside: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(inside):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(inside[start:i].strip())
            start = i + 1
    last = inside[start:].strip()
    return [*parts, last] if last else parts


def _nobody_answered(func, mode, types) -> str:
    """The text of the error where all who were asked said NotImplemented."""
    name = resolve_name(func) or getattr(func, "__qualname__", repr(func))
    if not isinstance(func, _C.Op) and not isinstance(func, (_SLOT, _METHOD)):
        text = (
            f"no implementation found for '{name}' on types that implement "
            f"__torch_function__: {types}"
        )
        return text if mode is None else f"{text} nor in mode {mode}"
    asked = [] if mode is None else [f"  - mode object {mode}"]
    asked += [f"  - tensor subclass {t}" for t in types]
    return (
        f"Multiple dispatch failed for '{name}'; all __torch_function__ "
        "handlers returned NotImplemented:\n\n" + "\n".join(asked) + "\n\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )


# --- modes --------------------------------------------------------------------


class TorchFunctionMode:
    """Answers every call of a function of this package inside of its `with`.

    Subclasses define `__torch_function__(self, func, types, args, kwargs)`.
    While it runs the mode itself is not asked, those around it are.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, *exception) -> None:
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args, **kwargs):
        """An instance, as the class itself makes it."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with "
            "just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Calls every function as it is."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack() -> list:
    """The modes of this thread, the one asked first last."""
    count = _C._len_torch_function_stack()
    return [_C._get_function_stack_at(i) for i in range(count)]


def _get_current_function_mode():
    """The mode that is asked first, or None."""
    stack = _get_current_function_mode_stack()
    return stack[-1] if stack else None


def _push_mode(mode) -> None:
    _C._push_on_torch_function_stack(mode)


def _pop_mode():
    return _C._pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def redispatch_function(func, types, args, kwargs):
    """The function itself, for those who answer it: what a function written in
    Python calls asks them again.
    """
    wrapped = getattr(func, "__wrapped__", None)
    if type(func) is _C.Function and wrapped is not None:
        return wrapped(*args, **(kwargs or {}))
    with _C.DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


class _EnableTorchFunction:
    """The protocol is on in this thread, whatever was switched off around it,
    from the making of the object to its end.
    """

    def __init__(self) -> None:
        self._before = (
            _C._without_subclasses(False),
            _C._without_overrides(False),
        )

    def end(self) -> None:
        """Switches back, once."""
        if self._before is not None:
            subclasses, everything = self._before
            self._before = None
            _C._without_subclasses(subclasses)
            _C._without_overrides(everything)

    __del__ = end


@contextlib.contextmanager
def _enable_torch_function():
    """The protocol is on, whatever was switched off around it."""
    guard = _EnableTorchFunction()
    try:
        yield
    finally:
        guard.end()


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """Calls inside of a handler are seen by the protocols again, and recorded
    if the call that it handles was.
    """
    with _enable_torch_function(), lent("dispatch_again")():
        yield
