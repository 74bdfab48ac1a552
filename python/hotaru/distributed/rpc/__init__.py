"""Calls in other processes: there are none, as `is_available` says."""

from __future__ import annotations

from ..._own_names import no_attribute

__all__ = ["init_rpc", "is_available", "shutdown"]

_NONE = (
    "torch.distributed.rpc: hotaru has no transport between processes; "
    "torch.multiprocessing starts processes of one machine that share tensors"
)


def is_available() -> bool:
    """False."""
    return False


def init_rpc(*args, **kwargs) -> None:
    """Raises NotImplementedError, and says what there is instead."""
    raise NotImplementedError(_NONE)


def shutdown(graceful: bool = True, timeout: float = 0) -> None:
    """Raises RuntimeError: nothing was started."""
    raise RuntimeError("RPC has not been initialized. Call init_rpc first.")


def __getattr__(name: str):
    if name.startswith("__"):
        raise no_attribute(__name__, name)
    raise AttributeError(f"{_NONE} (asked for {name!r})")
