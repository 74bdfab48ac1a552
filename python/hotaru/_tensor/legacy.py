"""The legacy constructors: FloatTensor, FloatStorage and their kin."""

from __future__ import annotations

import operator
import sys

from .. import _C, as_tensor, tensor
from .._extension.dtypes import TYPES, options_text
from .._extension.size import Size
from .._own_names import is_own
from ..storage._legacy import refuse_text

_classes: dict[tuple[str, str], type] = {}


def _arguments(args: tuple, keywords: dict, own: str) -> tuple:
    """Arguments of a legacy constructor of a device, which may have `device`
    and its single one by name.

    TypeError for others, RuntimeError for another device.
    """
    names = set(keywords)
    check_device(own, keywords.pop("device", None))
    if len(keywords) == 1 and not args:
        ((name, value),) = keywords.items()
        if name == "size":
            return (Size(value),)
        if name in ("data", "other", "storage"):
            return (value,)
    pairs = len(args) > 1 and not hasattr(args[0], "__index__")
    if not keywords and not pairs:
        return args
    given = [_name_of(type(value)) for value in args]
    given += [f"{k}={_name_of(type(v))}" for k, v in keywords.items()]
    wrong = (
        f"keywords were incorrect: {', '.join(sorted(names - {'device'}))}"
        if keywords
        else f"arguments have invalid types: ({', '.join(given)})"
    )
    raise TypeError(_SIGNATURES.format(", ".join(given), wrong))


_SIGNATURES = """\
new() received an invalid combination of arguments - got ({}), but expected \
one of:
 * (*, torch.device device = None)
      didn't match because some of the {}
 * (torch.Storage storage)
 * (Tensor other)
 * (tuple of ints size, *, torch.device device = None)
 * (object data, *, torch.device device = None)
"""


def _name_of(kind: type) -> str:
    """As PyTorch's messages name a class."""
    module = kind.__module__.partition(".")[0]
    if is_own(module):
        return f"torch.{kind.__name__}"
    return f"numpy.{kind.__name__}" if module == "numpy" else kind.__name__


def plain(*args, **keywords):
    """`torch.Tensor(...)`: as FloatTensor's, of the default dtype; errors of
    `_arguments` and `_from`.
    """
    return _from(_arguments(args, keywords, "cpu"), _C.get_default_dtype(), "cpu")


def _size(value, place: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"new(): argument 'size' failed to unpack the object at pos {place}"
            ' with error "type must be tuple of ints,but got '
            f'{_name_of(type(value))}"'
        )
    return operator.index(value)


def _is_size(value) -> bool:
    """Tells whether a single argument is a size: an integer, also one of
    numpy's.
    """
    try:
        return not isinstance(value, bool) and operator.index(value) >= 0
    except TypeError:
        return False


def _is_array(value) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _from(args, dtype, device: str):
    """Makes a tensor of the arguments of a legacy constructor.

    Nothing, sizes, a torch.Size, data, or a tensor, storage or array to share.
    TypeError and RuntimeError as PyTorch's for those of another dtype, and
    for what is no sequence.
    """
    first = args[0] if args else None
    if not args:
        return _C.ops.empty([0], dtype=dtype, device=device)
    if len(args) == 1 and isinstance(first, _C.Tensor):
        if first.dtype is not dtype or first.device.type != device:
            raise TypeError(
                f"expected {options_text(dtype, device)} (got "
                f"{options_text(first.dtype, first.device)})"
            )
        return first.view_as(first) if first.requires_grad else first.detach()
    if len(args) == 1 and isinstance(first, Size):
        return _C.ops.empty(list(first), dtype=dtype, device=device)
    if len(args) == 1 and not _is_size(first):
        kind = type(first)
        many = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
        if issubclass(kind, dict) or not many:
            raise TypeError(f"new(): data must be a sequence (got {_name_of(kind)})")
        # Arrays of the dtype are shared.
        make = as_tensor if _is_array(first) else tensor
        return make(first, dtype=dtype, device=device)
    sizes = [_size(value, place) for place, value in enumerate(args, 1)]
    return _C.ops.empty(sizes, dtype=dtype, device=device)


def new(like, *args, **keywords):
    """A tensor of another one's dtype and device, by the legacy arguments."""
    where = like.device.type
    args = _arguments(args, keywords, where)
    if len(args) == 1:
        refuse_text(args)
    return _from(args, like.dtype, where)


def check_device(mine: str, given) -> None:
    if given is not None and _C.device(given).type != mine:
        raise RuntimeError(
            f"legacy constructor expects device type: {mine} but device "
            f"type: {_C.device(given).type} was passed"
        )


def tensor_class(name: str, device: str = "cpu"):
    """A constructor class for a legacy type name on a device, or None."""
    dtype = TYPES.get(name)
    if dtype is None:
        return None
    if (name, device) not in _classes:
        _classes[name, device] = _make_class(name, dtype, device)
    return _classes[name, device]


def _make_class(name: str, dtype, own: str):
    class Meta(type):
        def __instancecheck__(cls, obj) -> bool:
            return (
                isinstance(obj, _C.Tensor)
                and obj.dtype is dtype
                and obj.device.type == own
                and obj.layout is _C.strided
                and not obj.is_nested
            )

    def __new__(cls, *args, **keywords):
        return _from(_arguments(args, keywords, own), dtype, own)

    def __init_subclass__(cls, **kwargs):
        raise TypeError(f"type 'torch.{name}' is not an acceptable base type")

    module = "torch" if own == "cpu" else f"torch.{own}"
    members = {
        "__new__": __new__,
        "__init_subclass__": classmethod(__init_subclass__),
        "dtype": dtype,
        "is_cuda": own == "cuda",
        "is_xpu": False,
        "__module__": module,
    }
    return Meta(name, (), members)


def named(name: str):
    """Finds what the top level has by a legacy name, or None."""
    from .. import storage  # noqa: F401 its classes are complete
    from ..storage._legacy import legacy_storage, storage_classes

    if name == "_storage_classes":
        return storage_classes()
    if name == "_tensor_classes":
        return {
            tensor_class(known, device)
            for known in TYPES
            if not known.startswith("Complex")
            for device in ("cpu", "cuda")
        }
    if name == "Storage":
        return legacy_storage("FloatStorage")
    if name.endswith("Storage"):
        return legacy_storage(name)
    return tensor_class(name)
