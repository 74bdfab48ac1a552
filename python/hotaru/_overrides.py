"""What is always there of the protocol `__torch_function__`.

A class with that method answers operators that are called with its objects. A
subclass of Tensor without a method of its own has `default`, so that results
are of the subclass; `overrides` has what users of the protocol need.
"""

from __future__ import annotations

import sys
from types import FunctionType

from . import _C
from ._C import Tensor


def has_torch_function(relevant_args) -> bool:
    """Whether one of the arguments, or a mode, answers operators."""
    if not hasattr(relevant_args, "__iter__"):
        raise TypeError("expected a sequence")
    return _C._overridden(*relevant_args)


class _Without:
    """Switches a part of the protocol off; subclasses say which."""

    def __enter__(self):
        self._before = self._switch(True)

    def __exit__(self, *exception) -> None:
        self._switch(self._before)


class DisableTorchFunctionSubclass(_Without):
    """Inside, classes with `__torch_function__` are not asked; modes are."""

    _switch = staticmethod(_C._without_subclasses)


class DisableTorchFunction(_Without):
    """Inside, neither classes with `__torch_function__` nor modes are asked."""

    _switch = staticmethod(_C._without_overrides)


_C.DisableTorchFunctionSubclass = DisableTorchFunctionSubclass
_C.DisableTorchFunction = DisableTorchFunction


def _convert(result, cls):
    """The result with its tensors as tensors of the class."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if type(result) in (tuple, list):
        return type(result)(_convert(r, cls) for r in result)
    if isinstance(result, tuple) and hasattr(type(result), "n_fields"):
        return type(result)(_convert(r, cls) for r in result)
    return result


@classmethod
def default(cls, func, types, args=(), kwargs=None):
    """Calls `func` as it is; its tensors become tensors of the subclass.

    NotImplemented where there are arguments of classes that this one is no
    subclass of.
    """
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    if func in _unwrapped():
        return result
    return _convert(result, cls)


def init_subclass(cls, **kwargs) -> None:
    """A class that answers operators below autograd does not see functions,
    unless it says so itself.
    """
    super(Tensor, cls).__init_subclass__(**kwargs)
    seen = cls.__torch_function__
    if _C._dispatching_type(cls) and (
        getattr(seen, "__func__", None) is default.__func__
    ):
        cls.__torch_function__ = _C._disabled_torch_function_impl


_UNWRAPPED: set = set()


def _unwrapped() -> set:
    """What gives tensors as they are, whatever class asks."""
    if not _UNWRAPPED:
        for name in ("_base", "grad", "_grad"):
            _UNWRAPPED.add(getattr(Tensor, name).__get__)
    return _UNWRAPPED


def as_subclass(self, cls):
    """The same values and history as a tensor of a subclass."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("cls must be a subclass of torch.Tensor")
    return _C._as_subclass(cls, self)


def overridable(namespace: dict, names) -> None:
    """Makes functions of a module such that the protocol sees their calls."""
    for name in names:
        function = namespace.get(name)
        if type(function) is not FunctionType:
            continue
        namespace[name] = _C._overridable(function)
        # Where it is defined, too: pickles look for it there.
        home = vars(sys.modules[function.__module__])
        if home.get(name) is function:
            home[name] = namespace[name]
