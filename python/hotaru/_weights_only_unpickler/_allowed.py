"""Which names of classes and functions are read."""

from __future__ import annotations

import functools
from _codecs import encode
from collections import Counter, OrderedDict
from pickle import UnpicklingError

from .._late import lent, loaded

# Nothing of these is ever allowed, whoever adds it.
_blocklisted_modules = ["sys", "os", "posix", "nt"]
_marked_safe_globals_set: set = set()


def _add_safe_globals(safe_globals) -> None:
    _marked_safe_globals_set.update(safe_globals)


def _get_safe_globals() -> list:
    return list(_marked_safe_globals_set)


def _clear_safe_globals() -> None:
    _marked_safe_globals_set.clear()


def _remove_safe_globals(safe_globals) -> None:
    _marked_safe_globals_set.difference_update(safe_globals)


class _safe_globals:  # noqa: N801  (PyTorch's name)
    """Adds safe globals for a with statement."""

    def __init__(self, safe_globals) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        _add_safe_globals(self.safe_globals)

    def __exit__(self, *raised) -> None:
        _remove_safe_globals(self.safe_globals)


def _get_user_allowed_globals() -> dict:
    """Objects that were added, by the names that files have for them."""
    from ..serialization._names import written

    allowed = {}
    for item in _marked_safe_globals_set:
        if not isinstance(item, tuple):
            allowed[f"{item.__module__}.{item.__qualname__}"] = item
            module, name = written(item)
            allowed[f"{module}.{name}"] = item
            continue
        if len(item) != 2:
            raise ValueError(
                "Expected tuple of length 2 (global, str of callable full "
                f"path), but got tuple of length: {len(item)}"
            )
        if type(item[1]) is not str:
            raise TypeError(
                "Expected second item in tuple to be str of callable full "
                f"path, but got: {type(item[1])}"
            )
        allowed[item[1]] = item[0]
    return allowed


@functools.lru_cache(maxsize=1)
def _get_allowed_globals() -> dict:
    """Objects that are always allowed, by the names files have for them."""
    import hotaru

    from .. import _C, _tensor, _utils
    from .._extension.dtypes import TYPES
    from .._quantized import dtypes as quantized
    from .._symbolic.integers import _DimRange
    from ..serialization._names import _DTYPES, _get_layout, storage_type
    from ..storage._typed import TypedStorage

    allowed = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "torch.nn.parameter.Parameter": hotaru.nn.Parameter,
        "torch.serialization._get_layout": _get_layout,
        "torch.Size": hotaru.Size,
        "torch.Tensor": hotaru.Tensor,
        "torch.device": hotaru.device,
        "_codecs.encode": encode,
        "builtins.bytearray": bytearray,
        "builtins.set": set,
        "builtins.complex": complex,
        "torch.storage.TypedStorage": TypedStorage,
        "torch.storage.UntypedStorage": _C.UntypedStorage,
        "torch._dynamo.decorators._DimRange": _DimRange,
        "torch._tensor._rebuild_from_type_v2": _tensor._rebuild_from_type_v2,
    }
    for value in vars(_C).values():
        if isinstance(value, _C.dtype):
            allowed[str(value)] = value
    for name in quantized.__all__:
        allowed[f"torch.{name}"] = getattr(quantized, name)
    for name in TYPES:
        if hasattr(hotaru, name):
            allowed[f"torch.{name}"] = getattr(hotaru, name)
    for name in (*_DTYPES, "UntypedStorage"):
        allowed[f"torch.{name}"] = storage_type(name)
    for name in _utils.REBUILD_FUNCTIONS:
        allowed[f"torch._utils.{name}"] = getattr(_utils, name)
    return allowed


def _full_path(module: str, name: str) -> str:
    """The name of a global of Python 2 or 3, as of 3."""
    from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING

    if (module, name) in NAME_MAPPING:
        module, name = NAME_MAPPING[(module, name)]
    else:
        module = IMPORT_MAPPING.get(module, module)
    return f"{module}.{name}"


def _allowed(thing) -> bool:
    return any(
        thing is known
        for table in (_get_allowed_globals(), _get_user_allowed_globals())
        for known in table.values()
    )


def _of_jagged(path: str, name: str):
    """Finds what pickles of jagged tensors name; as in PyTorch, a program that
    reads them has imported `torch._dynamo`, or has had such tensors.
    UnpicklingError where not.
    """
    known = ("NestedTensor", "_rebuild_njt")
    here = f"torch.nested._internal.nested_tensor.{name}"
    had = loaded("dynamo") or loaded("jagged_tensors")
    if path == here and name in known and had:
        return getattr(lent("jagged_tensors"), name)
    raise UnpicklingError(
        "``torch.nested`` and ``torch._dynamo`` must be imported to load "
        "nested jagged tensors (NJTs)"
    )
