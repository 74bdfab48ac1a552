"""Parts of the protocol `__torch_function__` that are always there.

A class with that method answers operators that are called with its objects. A
subclass of Tensor without a method of its own has `default`, so that results
are of the subclass; `overrides` has what users of the protocol need.
"""

from __future__ import annotations

import sys
from _thread import _local  # threading loads what imports do without

from . import _C
from ._C import Tensor
from ._own_names import is_own, own_root

_hops = _local()


def skips_hop() -> bool:
    """True once after `redispatch`: the function that is called again does not
    ask the same class first.
    """
    skips = getattr(_hops, "skips", False)
    _hops.skips = False
    return skips


def without_hop(function, args: tuple, kwargs: dict):
    """Calls a function written in Python, whose first question for arguments
    that answer is told that there are none.
    """
    before = getattr(_hops, "skips", False)
    _hops.skips = True
    try:
        return function(*args, **kwargs)
    finally:
        _hops.skips = before


def has_torch_function(relevant_args) -> bool:
    """True if one of the arguments, or a mode, answers operators."""
    if not hasattr(relevant_args, "__iter__"):
        raise TypeError("expected a sequence")
    if not _C._openly_overridden(*relevant_args) or skips_hop():
        return False
    if _modes_only_watch():
        return any(
            _C._answers_functions(x) and _C._answering_class(x) is type(x)
            for x in relevant_args
        )
    return True


def _modes_only_watch() -> bool:
    """True if there are modes, and all leave functions what they are."""
    modes = map(_C._get_function_stack_at, range(_C._len_torch_function_stack()))
    found = [getattr(mode, "watches", False) for mode in modes]
    return bool(found) and all(found)


def is_answered(types, args: tuple, kwargs: dict) -> bool:
    """True if a mode that is told of these types sees a call that an argument
    answers: of a class, or by one that programs do not see.
    """
    return bool(types) or _C._overridden(*args, *kwargs.values())


class _Without:
    """Switches a part of the protocol off; subclasses say which."""

    def __enter__(self):
        self._before = self._switch(True)

    def __exit__(self, *exception) -> None:
        self._switch(self._before)


class DisableTorchFunctionSubclass(_Without):
    """Inside, classes with `__torch_function__` are not asked; modes are."""

    _switch = staticmethod(_C._without_subclasses)


class WithoutAnswers(_Without):
    """Inside, no argument is asked, nor are the classes that answer for tensors
    of the type Tensor, which programs do not switch off.
    """

    @staticmethod
    def _switch(value):
        given = value if isinstance(value, tuple) else (value, value)
        return _C._without_subclasses(given[0]), _C._without_hidden(given[1])


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


class _Asked(property):
    """A property that has a name, as those of C++ have."""

    def __init__(self, name: str, get, whole: property) -> None:
        super().__init__(get, whole.fset, whole.fdel, whole.__doc__)
        self.__name__ = name


def asking(name: str, whole: property) -> property:
    """The attribute of Tensor, whose getter the protocol sees.

    Kinds of tensors that come with hotaru say themselves what they have.
    """
    usual = whole.fget

    def get(self):
        if _C._overridden(self) and not hasattr(_C._answering_class(self), "_kind"):
            asked = getattr(Tensor, name).__get__
            return _C._handle_torch_function(asked, (self,), (self,), {})
        return usual(self)

    return _Asked(name, get, whole)


def init_subclass(cls, **kwargs) -> None:
    """A class that answers operators below autograd does not see functions,
    unless it says so itself.
    """
    super(Tensor, cls).__init_subclass__(**kwargs)
    if _C._dispatching_type(cls) and not is_own(cls.__module__):
        from ._late import lent

        lent("make_wrapper")  # with what asks such classes
    seen = cls.__torch_function__
    if _C._dispatching_type(cls) and (
        getattr(seen, "__func__", None) is default.__func__
    ):
        cls.__torch_function__ = _C._disabled_torch_function_impl


_UNWRAPPED: set = set()


def _unwrapped() -> set:
    """Attributes that give tensors as they are, whatever class asks."""
    if not _UNWRAPPED:
        for name in ("_base", "grad", "_grad"):
            _UNWRAPPED.add(getattr(Tensor, name).__get__)
    return _UNWRAPPED


def as_subclass(self, cls):
    """The same values and history as a tensor of a subclass."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("cls must be a subclass of torch.Tensor")
    return _C._as_subclass(cls, self)


class _Names:
    """Names that functions give the module that offers them.

    It is the public one, under the name by which the program imports this
    package: "torch.nn.functional" behind `python -m hotaru`, else
    "hotaru.nn.functional". Either is importable, so pickles hold the name.
    """

    def __init__(self) -> None:
        self._offered: list[tuple] = []

    def say(self, function, module: str) -> None:
        """The function is offered by a module of this package, by its name."""
        place = module[len(module.partition(".")[0]) :]
        self._offered.append((function, place))
        function.__module__ = own_root() + place

    def use_root(self, root: str) -> None:
        """The program imports this package by the name `root`."""
        for function, place in self._offered:
            function.__module__ = root + place


# As `types.FunctionType`; nothing else here needs that module of Python's.
_Function = type(has_torch_function)
_names = _Names()
use_root = _names.use_root


def overridable(namespace: dict, names, module: str | None = None) -> None:
    """Makes functions of a module such that the protocol sees their calls.

    Args:
        namespace: of the module that offers them.
        names: of the functions; others of these names are left.
        module: the one that offers them, where it is not `namespace`.
    """
    module = module or namespace["__name__"]
    for name in names:
        function = namespace.get(name)
        if type(function) is not _Function:
            continue
        home = vars(sys.modules[function.__module__])
        namespace[name] = _C._overridable(function)
        if home.get(name) is function:
            home[name] = namespace[name]
        _names.say(function, module)


def offered(namespace: dict, names) -> None:
    """Functions that were made elsewhere are a module's to the program."""
    for name in names:
        _names.say(namespace[name].__wrapped__, namespace["__name__"])
