"""Flags of the libraries that PyTorch uses.

hotaru has kernels of its own instead: what a flag asks for is kept and given
back, and changes no result, but where NVIDIA's libraries compute on a GPU.
Flags are the process's, not a thread's.
"""

from __future__ import annotations

import types
from contextlib import contextmanager

from .. import _C

_frozen = False


def disable_global_flags() -> None:
    """From now on flags are set by the `flags()` of their module only."""
    global _frozen
    _frozen = True


def flags_frozen() -> bool:
    """True if `disable_global_flags` was called."""
    return _frozen


def check_thawed(library) -> None:
    """RuntimeError if flags may be set within contexts alone."""
    if _frozen:
        name = library.__name__.replace("hotaru", "torch")
        raise RuntimeError(
            f"not allowed to set {name} flags after disable_global_flags; "
            "please use flags() context manager instead"
        )


@contextmanager
def allow_mutation():
    """A block in which flags are set by their modules' attributes, again."""
    global _frozen
    before, _frozen = _frozen, False
    try:
        yield
    finally:
        _frozen = before


class Flag:
    """An attribute of a library's module, checked when it is set; one that
    has no `flags()` does not `freeze`.
    """

    def __init__(self, default, check=None, freezes: bool = True) -> None:
        self.default = default
        self.check = check
        self.freezes = freezes

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, library, owner=None):
        return self if library is None else library._values[self.name]

    def __set__(self, library, value) -> None:
        if self.freezes:
            check_thawed(library)
        self.put(library, value)

    def kept(self, library):
        """The value that it was set to."""
        return library._values[self.name]

    def put(self, library, value) -> None:
        """Sets it, frozen or not."""
        if self.check is not None:
            self.check(value)
        library._values[self.name] = value
        _C._count_setting_change()


def is_bool(setter: str):
    """A check that refuses all but a bool, in the name of `setter`."""

    def check(value) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(
                f"{setter} expects a bool, but got {type(value).__name__}"
            )

    return check


def is_precision(value) -> None:
    """A check of names of precisions in which float32 is computed."""
    if value not in ("none", "ieee", "tf32", "bf16"):
        raise RuntimeError(f"Unknown precision: {value}")


class Library(types.ModuleType):
    """A module with flags; `_settable` are those of `set_flags`, in order."""

    _settable: tuple = ()

    def __init__(self, name: str) -> None:
        super().__init__(f"hotaru.backends.{name}", type(self).__doc__)
        self._values = {
            name: flag.default
            for kind in type(self).__mro__
            for name, flag in vars(kind).items()
            if isinstance(flag, Flag)
        }

    def is_available(self) -> bool:
        """Tells whether it is used: never."""
        return False

    def set_flags(self, *values, **named) -> tuple:
        """Sets flags by position, or by their names behind `_`; None leaves
        one as it is. Returns those before.
        """
        before = tuple(self._kept(name) for name in self._settable)
        given = dict(zip(self._settable, values))
        given.update({name[1:]: value for name, value in named.items()})
        for name, value in given.items():
            if name not in self._settable:
                raise TypeError(
                    f"set_flags() got an unexpected keyword argument '_{name}'"
                )
            if value is not None:
                vars(type(self))[name].put(self, value)
        return before

    def _kept(self, name: str):
        return vars(type(self))[name].kept(self)

    @contextmanager
    def _set_for_a_while(self, **values):
        before = {name: self._kept(name) for name in values}
        self.set_flags(**{f"_{name}": v for name, v in values.items()})
        try:
            yield
        finally:
            # By put(), as the library has to be told, too.
            for name in values:
                if self._kept(name) != before[name]:
                    vars(type(self))[name].put(self, before[name])
