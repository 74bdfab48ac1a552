"""Scaling of losses where each process has a part of the gradients."""

from __future__ import annotations

from ...amp import GradScaler
from ..collectives import all_reduce
from ..reduce_op import ReduceOp

__all__ = ["ShardedGradScaler"]


class ShardedGradScaler(GradScaler):
    """A scaler whose processes skip a step together: if the gradients of one
    overflow, all know it.

    Gradients may be float16, as parameters are under `MixedPrecision`.

    Args:
        process_group: those who share the parameters; all by default.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group=None,
    ) -> None:
        super().__init__(
            device,
            init_scale=init_scale,
            backoff_factor=backoff_factor,
            growth_factor=growth_factor,
            growth_interval=growth_interval,
            enabled=enabled,
        )
        self.process_group = process_group

    def _unscale_grads_(
        self, optimizer, inv_scale, found_inf, allow_fp16: bool = True
    ) -> dict:
        found = super()._unscale_grads_(optimizer, inv_scale, found_inf, True)
        if not found:
            # Parts of this process are empty; others may have overflown.
            found = {found_inf.device: found_inf.clone()}
        for flag in found.values():
            all_reduce(flag, op=ReduceOp.MAX, group=self.process_group)
        return found
