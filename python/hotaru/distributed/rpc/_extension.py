"""Names of calls in other processes that PyTorch's extension has: programs ask
whether an object is of these classes. None is, as there are no such calls.
"""

from __future__ import annotations

from . import init_rpc

__all__ = ["PyRRef", "RpcAgent", "RpcBackendOptions", "WorkerInfo"]

_DEFAULT_RPC_TIMEOUT_SEC = 60.0
_UNSET_RPC_TIMEOUT = -1.0
_DEFAULT_NUM_WORKER_THREADS = 16
_DEFAULT_INIT_METHOD = "env://"


class _OfCalls:
    """Objects that only such calls make."""

    def __init__(self, *args, **kwargs) -> None:
        init_rpc()


class PyRRef(_OfCalls):
    """An object of another process."""


class WorkerInfo(_OfCalls):
    """Name and number of a process."""


class RpcAgent(_OfCalls):
    """Carrier of calls."""


class TensorPipeAgent(RpcAgent):
    """PyTorch's carrier of calls."""


class RpcBackendOptions(_OfCalls):
    """Options of a carrier."""


def _is_current_rpc_agent_set() -> bool:
    return False


def _get_current_rpc_agent():
    raise RuntimeError("Current RPC agent is not set!")
