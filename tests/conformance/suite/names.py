"""Placeholders for what a test file names and hotaru lacks.

They may be named, called, derived from and decorated with while a file is being
loaded; afterwards each use raises `MissingName`, which says the name.
"""

from __future__ import annotations

import functools
import types
from typing import ClassVar


class State:
    """State of loading: whether it goes on, and the names it has missed."""

    loading = True
    seen: ClassVar[dict[str, int]] = {}


# Where a decorator of one of these is missing, what it decorates is as it was.
_UNDECORATED = (
    "torch._dynamo",
    "torch._inductor",
    "torch._functorch",
    "torch.compiler",
)
DTYPES = {
    f"torch.{name}"
    for name in (
        "chalf",
        "quint8",
        "qint8",
        "qint32",
        "quint4x2",
        "quint2x4",
        "uint16",
        "uint32",
        "uint64",
        "complex32",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn_x2",
    )
}
# Names that the harness asks for on the way (which dtype, which layout?).
CONSTANTS = DTYPES | {
    f"torch.{name}"
    for name in (
        "sparse_coo",
        "sparse_csr",
        "sparse_csc",
        "sparse_bsr",
        "sparse_bsc",
        "_mkldnn",
        "jagged",
    )
}


class MissingName(AttributeError):  # noqa: N818
    """A test uses what hotaru lacks."""


def missing(name: str) -> MissingName:
    return MissingName(f"MISSING {name}")


class _MissingClass:
    """A class that hotaru lacks, where a test file derives from it."""

    _missing = "?"

    def __new__(cls, *args, **kwargs):
        raise missing(cls._missing)

    def __init_subclass__(cls, **kwargs):
        pass


class Missing:
    """A value that hotaru lacks, known by its full name."""

    def __new__(cls, name):
        return object.__new__(MissingDtype if name in DTYPES else cls)

    def __init__(self, name):
        if name == "torch.chalf":
            name = "torch.complex32"
        module, _, short = name.rpartition(".")
        put = functools.partial(object.__setattr__, self)
        put("_missing_name", name)
        put("__name__", short)
        put("__qualname__", short)
        put("__module__", module)
        State.seen[name] = State.seen.get(name, 0) + 1

    def _while_loading(self, name=None):
        if not State.loading:
            raise missing(self._missing_name)
        return Missing(name or self._missing_name)

    def _gone(self, *args):
        raise missing(self._missing_name)

    def _self(self, other):
        return self

    def _false(self, *other):
        return False

    def __getattr__(self, name):
        hidden = name.startswith("__") and name.endswith("__")
        if hidden or name == "parametrize_fn":
            raise AttributeError(name)
        return self._while_loading(f"{self._missing_name}.{name}")

    def __setattr__(self, name, value):
        self._while_loading()
        object.__setattr__(self, name, value)

    def __call__(self, *args, **kwargs):
        name = self._missing_name
        if name.startswith("torch._logging."):
            return None
        result = self._while_loading()
        decorated = args[0] if len(args) == 1 and not kwargs else None
        if not isinstance(decorated, (types.FunctionType, type)):
            return result
        if name.startswith(_UNDECORATED):
            return decorated
        if isinstance(decorated, type):
            of_tests = decorated.__module__.startswith("test")
            return decorated if of_tests else result
        if not decorated.__name__.startswith("test"):
            return result

        @functools.wraps(decorated)
        def gone(*_, **__):
            raise missing(name)

        return gone

    def __mro_entries__(self, bases):
        members = {"_missing": self._missing_name}
        return (type("MissingBase", (_MissingClass,), members),)

    def __bool__(self):
        # A dtype is true, a flag that is missing is not.
        return self._missing_name in CONSTANTS

    def __str__(self):
        return self._missing_name

    def __iter__(self):
        self._while_loading()
        return iter(())

    def __len__(self):
        return 0

    def __getitem__(self, index):
        return self._while_loading(f"{self._missing_name}[]")

    def __hash__(self):
        return hash(self._missing_name)

    def __eq__(self, other):
        if not isinstance(other, Missing):
            return False
        return other._missing_name == self._missing_name

    def __deepcopy__(self, memo):
        return self

    __repr__ = __str__
    __contains__ = __exit__ = _false
    __instancecheck__ = __subclasscheck__ = _false
    __lt__ = __gt__ = __le__ = __ge__ = _false
    __or__ = __ror__ = __and__ = __rand__ = _self
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _self
    __enter__ = __reduce__ = __int__ = __index__ = __float__ = _gone


class MissingDtype(Missing):
    """A dtype that hotaru lacks: the tests for it are made, and fail."""


class MissingModule(types.ModuleType):
    """A module that hotaru lacks."""

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        if not State.loading:
            raise missing(full)
        return Missing(full)
