"""Tensors in groups that one call over a list can take."""

from __future__ import annotations

from .. import Tensor, jit, no_grad

Indices = list[int]
TensorListList = list[list[Tensor | None]]
_foreach_supported_types = [Tensor]
_FOREACH_DEVICES = ("cuda", "xpu", "mtia")
_FUSED_DEVICES = ("mps", "cuda", "xpu", "hpu", "cpu", "mtia")


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Accelerators whose lists of tensors are worth one call."""
    return [*_FOREACH_DEVICES, "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Devices that an optimizer's whole step may run on as one kernel."""
    return [*_FUSED_DEVICES, "privateuseone"]


@no_grad()
def _group_tensors_by_device_and_dtype(
    tensorlistlist: TensorListList, with_indices: bool = False
) -> dict:
    """{(device, dtype): (the lists' parts of that group, their positions)}.

    The first list says what group a position belongs to; in the others, an
    entry may be None, and a list may be empty, which it is in every group.

    Raises:
        RuntimeError: a list is neither empty nor as long as the first.
    """
    count = len(tensorlistlist[0])
    if any(len(one) not in (0, count) for one in tensorlistlist):
        lengths = [len(one) for one in tensorlistlist]
        raise RuntimeError(
            "_group_tensors_by_device_and_dtype: expected lists of one length, "
            f"got {lengths}"
        )
    found = {}
    for k, first in enumerate(tensorlistlist[0]):
        key = (first.device, first.dtype)
        if key not in found:
            found[key] = ([[] for _ in tensorlistlist], [])
        parts, indices = found[key]
        for part, whole in zip(parts, tensorlistlist):
            if whole:
                part.append(whole[k])
        if with_indices:
            indices.append(k)
    return found


def _device_has_foreach_support(device) -> bool:
    known = [*_get_foreach_kernels_supported_devices(), "cpu"]
    return device.type in known and not jit.is_scripting()


def _has_foreach_support(tensors, device) -> bool:
    return _device_has_foreach_support(device) and all(
        one is None or type(one) in _foreach_supported_types for one in tensors
    )
