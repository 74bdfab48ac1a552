"""Small helpers shared by the Python part of the package."""

from __future__ import annotations

import hotaru

from .. import Tensor
from .._late import lent
from .._own_names import no_attribute
from .exceptions import ExceptionWrapper, KeyErrorMessage
from .flat import (
    _flatten_dense_tensors,
    _flatten_sparse_tensors,
    _reorder_tensors_as,
    _take_tensors,
    _unflatten_dense_tensors,
    _unflatten_sparse_tensors,
)
from .rebuild import (
    REBUILD_FUNCTIONS,
    _rebuild_device_tensor_from_cpu_tensor,
    _rebuild_meta_tensor_no_storage,
    _rebuild_nested_tensor,
    _rebuild_qtensor,
    _rebuild_sparse_tensor,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    _rebuild_wrapper_subclass,
    look_into,
)


def typename(obj: object) -> str:
    """Name of `obj`'s type as error texts spell it.

    A tensor gives its legacy type string ("torch.FloatTensor"), anything else
    its qualified class name, without the module for builtins.
    """
    if isinstance(obj, Tensor):
        return obj.type()
    cls = obj if isinstance(obj, type) else type(obj)
    module = getattr(cls, "__module__", "")
    # Where a native type is defined is no part of its public name.
    module = module.removesuffix("._C")
    name = getattr(cls, "__qualname__", cls.__name__)
    return name if module in ("", "builtins") else f"{module}.{name}"


def _element_size(dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize


def _is_privateuse1_backend_available() -> bool:
    """Tells whether a device that an extension brings is there: hotaru's table
    of devices takes none from outside.
    """
    return False


def _get_available_device_type() -> str | None:
    """The kind of device beside the CPU, "cuda", or None."""
    return "cuda" if hotaru.cuda.is_available() else None


def _get_device_module(device_type: str):
    """The module of a kind of device, as `torch.cuda`.

    RuntimeError: there is none.
    """
    module = getattr(hotaru, device_type, None)
    if module is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module "
            f"registered as 'torch.{device_type}'."
        )
    return module


def _get_available_device_module():
    """The module of the device beside the CPU, or None."""
    kind = _get_available_device_type()
    return None if kind is None else _get_device_module(kind)


def _get_device_index(device, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index that a device means; -1 of the CPU, where it is allowed.

    Args:
        optional: None, and a device without an index, mean the current one.

    Raises:
        ValueError: the CPU, or no index, where one is needed.
    """
    if isinstance(device, str):
        device = hotaru.device(device)
    if isinstance(device, hotaru.device):
        if device.type == "cpu":
            if not allow_cpu:
                raise ValueError(f"Expected a non cpu device, but got: {device}")
            return -1 if device.index is None else device.index
        device = device.index
    if isinstance(device, int):
        return device
    if not optional:
        raise ValueError(
            f"Expected a torch.device with a specified index or an integer, "
            f"but got: {device}"
        )
    return hotaru.cuda.current_device() if hotaru.cuda.is_available() else 0


def _rebuild_operator(name: str, method: bool):
    """The operator or method of that name; what pickles of one refer to."""
    return getattr(hotaru.Tensor if method else hotaru.ops, name)


def __getattr__(name: str):
    # By these names, which belong to the format, files of pickles know them.
    if name == "torch":  # of `torch.channels_last`
        return hotaru
    if name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        return getattr(lent("parameter"), name)
    raise no_attribute(__name__, name)


def set_module(obj, mod: str) -> None:
    """Says that an object is of the module of that name.

    TypeError: it is no name.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
