"""Helpers of programs that bring modules to the same state in all processes."""

from __future__ import annotations

from collections.abc import Collection

from ...nn import Module
from ..distributed_c10d import _broadcast_coalesced

__all__: list[str] = []


def _sync_module_states(
    module: Module,
    process_group,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Collection[str] = (),
    broadcast_buffers: bool = True,
) -> None:
    """Every process's parameters and buffers become those of `src`.

    Args:
        params_and_buffers_to_ignore: names of some that stay as they are.
    """
    named = list(module.named_parameters())
    if broadcast_buffers:
        named += list(module.named_buffers())
    tensors = [
        tensor.detach()
        for name, tensor in named
        if name not in params_and_buffers_to_ignore
    ]
    _sync_params_and_buffers(process_group, tensors, broadcast_bucket_size, src)


def _sync_params_and_buffers(
    process_group, module_states: list, broadcast_bucket_size: int, src: int
) -> None:
    """Tensors become those of `src`, in few messages."""
    if module_states:
        _broadcast_coalesced(process_group, module_states, broadcast_bucket_size, src)
