"""Parts of `torch._C` and its types that are written in Python here.

Its files are read when somebody asks for what is in them.
"""

from __future__ import annotations

import atexit
import copyreg

from .. import _C
from .._own_names import no_attribute

# Errors that nobody asked for yet are told when the interpreter ends.
atexit.register(_C._synchronize)


def _attribute(name: str):
    if name.startswith("__"):  # the import system asks for some
        raise no_attribute(_C.__name__, name)
    from .places import attribute

    return attribute(name)


_C.__getattr__ = _attribute


def _reduced(operator) -> tuple:
    from .functions import reduced

    return reduced(operator)


copyreg.pickle(_C.Op, _reduced)


def _name_of(function) -> str:
    return function.__name__


# Functions such as `torch.tensor` go by their names, and are not copied.
copyreg.pickle(type(_C.tensor), _name_of)


def _by_class(method) -> tuple:
    owner, _, name = method.__qualname__.rpartition(".")
    return getattr, (getattr(_C, owner), name)


copyreg.pickle(type(_C.Generator.seed), _by_class)


def _method(module: str, name: str, owner: str | None = None):
    path = owner and f"{owner}.{name}"
    return _C._late(f"hotaru._extension.{module}", name, False, path)


for _name in (
    "__reduce__",
    "__setstate__",
    "clone_state",
    "graphsafe_get_state",
    "graphsafe_set_state",
    "get_offset",
    "set_offset",
):
    setattr(_C.Generator, _name, _method("generator", _name, "Generator"))
for _name in ("__enter__", "__exit__", "is_capturing", "record_event"):
    setattr(_C.Stream, _name, _method("streams", _name, "Stream"))
_C.Stream.native_handle = property(
    _method("streams", "native_handle"),
    doc="The driver's stream; RuntimeError: it is a queue of the CPU.",
)
_C.dtype.abbr = property(
    _method("dtypes", "abbreviation"), doc='As "f32", "bf16", "i64" or "b8".'
)


def _no_ipc(*args):
    """NotImplementedError: events are of one process."""
    raise NotImplementedError(
        "torch.Event ipc is not supported yet; synchronise before another "
        "process is told"
    )


_C.Event.ipc_handle = _no_ipc
_C.Event.from_ipc_handle = staticmethod(_no_ipc)
