"""XLA's client for the CPU, from jaxlib, which is loaded when first needed."""

from __future__ import annotations

import importlib.util
import os
import threading

from .. import Tensor, get_num_threads, no_grad
from ..utils.dlpack import from_dlpack, to_dlpack
from .values import NotWritten

# What XLA takes as it lies, without a copy.
_ALIGNMENT = 64
_LOCK = threading.Lock()
_clients: dict[int, Client] = {}


def check_installed() -> None:
    """ImportError: jaxlib is missing."""
    if importlib.util.find_spec("jaxlib") is None:
        raise ImportError(
            'compile: the backend "xla" runs programs by jaxlib, which is not '
            "installed: pip install jaxlib"
        )


def client() -> Client:
    """The client whose pool has as many threads as this package has now."""
    threads = get_num_threads()
    with _LOCK:
        if threads not in _clients:
            _clients[threads] = Client(threads)
        return _clients[threads]


class Client:
    """One of XLA's clients, with a pool of `threads`."""

    def __init__(self, threads: int) -> None:
        check_installed()
        # Else it says on stderr that it starts.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
        from jaxlib import _jax, xla_client

        self.threads = threads
        self._jax, self._options = _jax, xla_client.CompileOptions
        # The one door to the size of its pool.
        before = os.environ.get("NPROC")
        os.environ["NPROC"] = str(threads)
        try:
            self._client = xla_client.make_cpu_client(asynchronous=False)
        finally:
            if before is None:
                del os.environ["NPROC"]
            else:
                os.environ["NPROC"] = before
        (self._device,) = self._client.local_devices()[:1]

    def compile(self, text: str):
        """An executable of StableHLO. NotWritten: XLA refuses it."""
        devices = self._jax.DeviceList((self._device,))
        try:
            return self._client.compile_and_load(
                text, devices, self._options()
            )
        except self._jax.JaxRuntimeError as error:
            lines = str(error).strip().splitlines() or ["no reason given"]
            raise NotWritten(f"XLA refuses the program: {lines[0]}") from error

    def buffer(self, tensor: Tensor) -> tuple:
        """A tensor's memory as XLA's, and whether it is the tensor's own: else
        it is a copy.
        """
        with no_grad():
            given = tensor.detach()
            own = given.is_contiguous()
            if not own:
                given = given.contiguous()
            if given.data_ptr() % _ALIGNMENT:
                given, own = given.clone(), False
            capsule = to_dlpack(given)
        made = self._jax.dlpack_managed_tensor_to_buffer(
            capsule, self._device, None
        )
        return made, own

    def tensor(self, buffer) -> Tensor:
        """A result, without a copy."""
        return from_dlpack(self._jax.buffer_to_dlpack_managed_tensor(buffer))
