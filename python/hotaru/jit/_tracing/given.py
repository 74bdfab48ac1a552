"""Tensors that a traced function was given: it sees them, the trace does not.

The function gets the very tensors, so that it may ask whether one is another.
Whoever computes with one gets its stand-in.
"""

from __future__ import annotations

import contextlib
import threading

import hotaru

from ... import _C
from ..._late import loaded
from .._library.sparse import METHODS
from . import signs as _signs  # noqa: F401
from .draws import Draws
from .traced import Recorder, TracedTensor, holds_tensor, real, recorder_of
from .warned import HANDED_ON

HANDED_ON |= {__file__, contextlib.__file__}


class Given(Draws):
    """A mode in which functions get stand-ins for a recorder's tensors."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._undone = contextlib.ExitStack()

    def __enter__(self) -> None:
        super().__enter__()
        self._undone.enter_context(_native_calls(self._recorder))

    def __exit__(self, *exception) -> None:
        self._undone.close()
        super().__exit__(*exception)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given, named = self._recorder.stood_in((args, kwargs))
        found = given is not args or named is not kwargs
        if func in _PARTS and recorder_of(given):
            with self._again():
                return self._part(func, *given)
        if _is(func, "DefinedPacket") and recorder_of((given, *named.values())):
            chosen = func.resolve(real(given), real(named))
            func = getattr(func, chosen or "default")
        if _is(func, "DefinedOverload") and recorder_of((given, *named.values())):
            return self._recorder.call(func, given, named)
        if not found:
            return super().__torch_function__(func, types, args, kwargs)
        with self._again():
            return _of_stand_ins(func, given, named)

    def _part(self, function, whole, *given):
        """Reads or writes a part of a tensor."""
        if not isinstance(whole, TracedTensor):
            recorder = self._recorder
            if function is _PARTS[1]:
                whole = recorder.adopt(whole)
            else:
                whole = TracedTensor(recorder, recorder.text(whole), whole)
        if function is _PARTS[1]:
            whole[given[0]] = given[1]
            return None
        return whole[given[0]]

    @contextlib.contextmanager
    def _again(self):
        """Keeps the mode on for what a function calls."""
        _C._push_on_torch_function_stack(self)
        try:
            yield
        finally:
            _C._pop_torch_function_stack()


def _is(function, kind: str) -> bool:
    """Tells whether that is an operator that Python defined."""
    made = loaded(kind)
    return made is not None and isinstance(function, made)


def _of_stand_ins(function, args: tuple, kwargs: dict):
    """Calls what a tensor has of the stand-in that took its place."""
    first = args[0] if args else None
    name = getattr(function, "__name__", "")
    python = isinstance(function, _C.Function)
    if isinstance(first, TracedTensor) and isinstance(function, _METHODS):
        if name == "__get__":
            return getattr(first, function.__self__.__name__)
        if name == "__set__":
            return setattr(first.value, function.__self__.__name__, args[1])
        # Methods that are Python run with stand-ins.
        own = any(name in vars(base) for base in type(first).__mro__[:-1])
        if own or not python or name in METHODS:
            return getattr(first, name)(*args[1:], **kwargs)
    inner = getattr(function, "__wrapped__", None) if python else None
    return (inner or function)(*args, **kwargs)


# Kinds of what a tensor's class has, but for operators.
_METHODS = (
    _C.Function,
    type(_C.Tensor.size),
    type(_C.Tensor.__len__),
    type(_C.Tensor.shape.__get__),
)
_PARTS = (_C.Tensor.__getitem__, _C.Tensor.__setitem__)
_ITER = _C.Tensor.__iter__
_CALL = _C.ScriptFunction.__call__
_LOCK = threading.RLock()


@contextlib.contextmanager
def _native_calls(recorder: Recorder):
    """Has calls that no mode sees get stand-ins: compiled functions, copies."""
    places = (
        (_C.ScriptFunction, "__call__"),
        (_C.ScriptMethod, "__call__"),
        (hotaru, "tensor"),
        (_C.Tensor, "__iter__"),
    )
    thread = threading.get_ident()
    with _LOCK:
        kept = [(owner, name, vars(owner)[name]) for owner, name in places]
        try:
            for owner, name, value in kept:
                setattr(owner, name, _swapping(recorder, value, thread))
            yield
        finally:
            for owner, name, value in kept:
                setattr(owner, name, value)


def _swapping(recorder: Recorder, value, thread: int):
    def call(*args, **kwargs):
        if threading.get_ident() == thread:
            args, kwargs = recorder.stood_in((args, kwargs))
            if args and isinstance(args[0], TracedTensor) and value is _ITER:
                return iter(args[0])
            if value is _CALL and not recorder.runs:
                return _call_compiled(recorder, args, kwargs)
        return value(*args, **kwargs)

    return call


def _call_compiled(recorder: Recorder, args: tuple, kwargs: dict):
    """Calls a compiled function, which the program does, too, where nothing
    that it gets is the program's.
    """
    result = _CALL(*args, **kwargs)
    if recorder_of((args, kwargs)) is not None or not holds_tensor(result):
        return result
    return recorder.again(args[0], args[1:], kwargs, result)
