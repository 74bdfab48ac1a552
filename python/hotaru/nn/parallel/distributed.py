"""A module whose gradients are averaged over processes: here, over one."""

from __future__ import annotations

import contextlib

from ... import distributed
from ..modules import Module


class DistributedDataParallel(Module):
    """Runs a module; the average over one process is its own gradient.

    The parameters of PyTorch's constructor that say how gradients travel
    between processes are taken and change nothing.

    Raises:
        ValueError: there is no process group; see `distributed`.
        RuntimeError: no parameter needs a gradient.
    """

    def __init__(
        self, module: Module, device_ids=None, output_device=None, dim: int = 0,
        broadcast_buffers: bool = True, init_sync: bool = True,
        process_group=None, bucket_cap_mb=None,
        find_unused_parameters: bool = False, check_reduction: bool = False,
        gradient_as_bucket_view: bool = False, static_graph: bool = False,
        delay_all_reduce_named_params=None, param_to_hook_all_reduce=None,
        mixed_precision=None, device_mesh=None,
        skip_all_reduce_unused_params=False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.process_group = process_group or distributed.group.WORLD
        if self.process_group is None:
            distributed.get_rank()  # raises, and says what is missing
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't "
                "have any parameters that require a gradient."
            )
        self.module = module
        self.dim = dim
        self.device_ids = device_ids
        self.output_device = output_device
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of this process alone, as they are anyway."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs, **kwargs):
        """What the module gives."""
        return self.module(*inputs, **kwargs)
