"""Batches over the GPUs there are: none or one; several are refused."""

from __future__ import annotations

import hotaru

from ... import Tensor
from ..modules import Module

_SEVERAL = (
    "DataParallel over several devices is not supported: pass "
    "device_ids=[one device], or run a process for each device"
)


class DataParallel(Module):
    """Runs a module on a GPU, where it is moved with its inputs.

    Without a GPU the module is called as it is. Over several, which PyTorch
    divides batches among, it is not implemented.

    Args:
        module: what to run, under this name in the state.
        device_ids: one device (all there are).
        output_device: where results go (that device).
        dim: the axis of the batch.

    Raises:
        NotImplementedError: several devices.
        RuntimeError: on a call, if the module is elsewhere by then.
    """

    def __init__(
        self, module: Module, device_ids=None, output_device=None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        if not hotaru.cuda.is_available():
            return
        ids = range(hotaru.cuda.device_count())
        ids = [index_of(each) for each in (device_ids or ids)]
        if len(ids) != 1:
            raise NotImplementedError(_SEVERAL)
        self.dim = dim
        self.device_ids = ids
        self.output_device = index_of(
            ids[0] if output_device is None else output_device
        )
        self.src_device_obj = hotaru.device("cuda", ids[0])
        self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        """Calls the module with the inputs, moved to its device."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        return _on_device(self.module, inputs, kwargs, self.src_device_obj)


def data_parallel(
    module: Module,
    inputs,
    device_ids=None,
    output_device=None,
    dim: int = 0,
    module_kwargs: dict | None = None,
):
    """`DataParallel` as a function: the module is there already.

    Raises:
        RuntimeError: no GPU, or the module is not on it.
        NotImplementedError: several devices.
    """
    if not isinstance(inputs, tuple):
        inputs = () if inputs is None else (inputs,)
    if not hotaru.cuda.is_available():
        raise RuntimeError("device type could not be determined")
    ids = device_ids or range(hotaru.cuda.device_count())
    if len(ids) != 1:
        raise NotImplementedError(_SEVERAL)
    device = hotaru.device("cuda", index_of(ids[0]))
    return _on_device(module, inputs, module_kwargs or {}, device)


def _on_device(module: Module, inputs: tuple, kwargs: dict, device):
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.device != device:
            raise RuntimeError(
                "module must have its parameters and buffers on device "
                f"{device} (device_ids[0]) but found one of them on device: "
                f"{tensor.device}"
            )
    return module(*moved(inputs, device), **moved(kwargs, device))


def moved(value, device):
    """The value with all tensors in tuples, lists and dicts on the device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(each, device) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(moved(each, device) for each in value)
    if isinstance(value, dict):
        return type(value)((k, moved(v, device)) for k, v in value.items())
    return value


def index_of(device) -> int:
    """The number of a GPU given as number, name or device."""
    if isinstance(device, int):
        return device
    index = hotaru.device(device).index
    return hotaru.cuda.current_device() if index is None else index
