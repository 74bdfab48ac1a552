"""XLA's client for the CPU, from jaxlib, which is loaded when first needed."""

from __future__ import annotations

import importlib.util
import os
import threading

from .. import (
    Tensor,
    bfloat16,
    float16,
    float32,
    float64,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    uint8,
    zeros,
)
from .. import bool as bool_
from ..utils.dlpack import from_dlpack, to_dlpack
from .values import NotWritten

# Alignment of memory that XLA takes as it lies, without a copy.
_ALIGNMENT = 64
# NumPy's names for dtypes; once it is loaded its own, and that of ml_dtypes,
# which jaxlib needs, for bfloat16.
_NUMPY = {
    float16: "float16",
    float32: "float32",
    float64: "float64",
    int8: "int8",
    int16: "int16",
    int32: "int32",
    int64: "int64",
    uint8: "uint8",
    bool_: "bool",
}
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
        import ml_dtypes
        import numpy
        from jaxlib import _jax, xla_client

        self.threads = threads
        self._jax, self._options = _jax, xla_client.CompileOptions
        for dtype, name in list(_NUMPY.items()):
            _NUMPY[dtype] = numpy.dtype(name)
        _NUMPY[bfloat16] = numpy.dtype(ml_dtypes.bfloat16)
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
        self._device = self._client.local_devices()[0]
        self._doors = _doors(_jax, xla_client, self._device)

    def compile(self, text: str, results):
        """StableHLO as a function of buffers. NotWritten: XLA refuses it.

        Args:
            results: shapes and dtypes of what it gives.
        """
        devices = self._jax.DeviceList((self._device,))
        try:
            made = self._client.compile_and_load(text, devices, self._options())
        except self._jax.JaxRuntimeError as error:
            lines = str(error).strip().splitlines() or ["no reason given"]
            raise NotWritten(f"XLA refuses the program: {lines[0]}") from error
        if self._doors is None:
            return made.execute
        sharding = self._doors[0]
        handlers = [
            self._jax.array_result_handler(_Kind(*r), sharding, True, True)
            for r in results
        ]

        def execute(buffers) -> list:
            out = made.execute_sharded(buffers)
            return out.consume_with_handlers(handlers)

        return execute

    def buffer(self, tensor: Tensor) -> tuple:
        """A tensor's memory as XLA's, and whether it is the tensor's own: else
        it is a copy.
        """
        given = tensor
        if given.requires_grad:
            given = given.detach()
        own = given.is_contiguous()
        if not own:
            given = given.contiguous()
        if given.data_ptr() % _ALIGNMENT:
            given, own = given.clone(), False
        if self._doors is None or given.dtype == bfloat16:
            capsule = to_dlpack(given)
            put = self._jax.dlpack_managed_tensor_to_buffer
            return put(capsule, self._device, None), own
        sharding, semantics = self._doors
        made = self._jax.batched_device_put(
            _Kind(given.shape, given.dtype),
            sharding,
            [given.numpy()],
            [self._device],
            True,
            False,
            semantics,
            True,
        )
        return made, own

    def tensor(self, buffer) -> Tensor:
        """A result, without a copy."""
        return from_dlpack(self._jax.buffer_to_dlpack_managed_tensor(buffer))


class _Kind:
    """Properties that arrays are asked for."""

    weak_type = False

    def __init__(self, shape, dtype) -> None:
        self.shape = tuple(shape)
        self.dtype = _NUMPY.get(dtype)


def _doors(jax, xla_client, device):
    """Returns what passes buffers without jax, some of it jaxlib's own matter;
    None if this version has it otherwise, so that the slower doors are taken,
    which look for jax each time.
    """
    try:

        class Sharding(jax.SingleDeviceSharding):
            memory_kind = None

            def _to_xla_hlo_sharding(self, rank: int):
                return xla_client.HloSharding.replicate()

        doors = Sharding(device), jax.HostBufferSemantics.ZERO_COPY
        probe = zeros(2)
        jax.batched_device_put(
            _Kind(probe.shape, probe.dtype),
            doors[0],
            [probe.numpy()],
            [device],
            True,
            False,
            doors[1],
            True,
        )
        jax.array_result_handler(_Kind((2,), probe.dtype), doors[0], True, True)
        return doors
    except Exception:
        return None
