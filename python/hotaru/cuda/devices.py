"""Which CUDA devices there are, what they can do, which one is current.

The current device is each thread's own and 0 at first. Questions whether there
are devices load the driver but use no device; all else begins to use CUDA
(`init`). Wherever a device may be given, that is an index, a string, or a
``torch.device``.
"""

from __future__ import annotations

from .. import _C
from ._begin import begin as _lazy_init
from ._begin import device_count

__all__ = [
    "can_device_access_peer",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "set_device",
    "synchronize",
]


def is_available() -> bool:
    """True if there is a CUDA device. Makes no context."""
    return device_count() > 0


def is_initialized() -> bool:
    """Tells whether this process used a CUDA device; loads nothing."""
    return _C._cuda_initialized()


def init() -> None:
    """Uses the current device, as everything does that needs it.

    Raises:
        RuntimeError: no driver, no device, or a process that was forked after
            CUDA began. AssertionError: this build has no CUDA back end.
    """
    _lazy_init()


def device_index(device, optional: bool = False) -> int:
    """The index that a device argument means.

    Args:
        device: an index, which is returned as it is, a string, a
            ``torch.device``, ``None``, or what `device` made.
        optional: ``None`` and "cuda" mean the current device.

    Raises:
        ValueError: another kind of device, or no index where one is needed.
    """
    if isinstance(device, int):
        return int(device)
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        if device.index is not None:
            return device.index
    elif isinstance(device, _Device):
        return device.idx
    elif device is not None:
        optional = False
    if not optional:
        raise no_index(device)
    return current_device()


def no_index(device) -> ValueError:
    return ValueError(
        "Expected a torch.device with a specified index or an integer, "
        f"but got:{device}"
    )


def current_device() -> int:
    """Index of this thread's current device."""
    _lazy_init()
    return _C._cuda_current_device()


def set_device(device) -> None:
    """Makes a device this thread's current one; negative ones change nothing.

    Raises:
        RuntimeError: no such device.
    """
    index = device_index(device)
    if index >= 0:
        # Later work of this thread begins there: no context elsewhere.
        _C._cuda_set_device(index)
        _lazy_init()


class _Device:
    """Makes a device current for a ``with`` block.

    A negative index changes nothing; ``None`` is the current device, and
    nothing where there is none.
    """

    def __init__(self, device) -> None:
        if device is None and not is_available():
            device = -1
        self.idx = device_index(device, optional=True)
        self._previous: list[int] = []

    def __enter__(self) -> None:
        self._previous.append(-1)
        if self.idx >= 0:
            previous = _C._cuda_current_device()
            if previous != self.idx:
                _C._cuda_set_device(self.idx)
                self._previous[-1] = previous

    def __exit__(self, *error) -> None:
        previous = self._previous.pop()
        if previous >= 0:
            _C._cuda_set_device(previous)


class device(_Device):  # noqa: N801
    __doc__ = _Device.__doc__


class device_of(device):  # noqa: N801
    """Makes a tensor's device current; tensors of the CPU change nothing."""

    def __init__(self, obj) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class _CudaDeviceProperties:
    """Properties of a device: sizes in bytes; prints the important ones."""

    def __init__(self, properties: dict) -> None:
        self.__dict__.update(properties)

    def __setattr__(self, name: str, value) -> None:
        raise AttributeError(f"property {name!r} cannot be set")

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, "
            f"minor={self.minor}, total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, "
            f"pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, "
            f"L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def _existing(device, text: str = "Invalid device id") -> int:
    index = device_index(device, optional=True)
    if not 0 <= index < device_count():
        raise AssertionError(text)
    return index


def get_device_properties(device=None) -> _CudaDeviceProperties:
    """Name, memory, processors and the like of a device, by default the
    current one.

    Raises:
        AssertionError: no such device.
    """
    _lazy_init()
    return _CudaDeviceProperties(_C._cuda_properties(_existing(device)))


def get_device_name(device=None) -> str:
    """The device's name, of the current one by default."""
    return get_device_properties(device).name


def get_device_capability(device=None) -> tuple[int, int]:
    """The device's compute capability, (9, 0) for instance."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device, peer_device) -> bool:
    """True if a device reads another one's memory without the host.

    Raises:
        AssertionError: no such device.
    """
    _lazy_init()
    index = _existing(device)
    return _C._cuda_can_access_peer(
        index, _existing(peer_device, "Invalid peer device id")
    )


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tells whether the current device computes in bfloat16: from capability
    8.0 on. There is no emulation: hotaru's kernels need 8.0 in any case.
    """
    return is_available() and get_device_capability()[0] >= 8


def is_tf32_supported() -> bool:
    """Tells whether the current device has TF32: from capability 8.0 on."""
    return is_bf16_supported(including_emulation=False)


def get_arch_list() -> list[str]:
    """Architectures that the kernels were compiled for, "sm_90" for instance.

    Empty where that is nobody's: without a CUDA back end, and on a GPU in
    software, whose kernels are the host's.
    """
    architectures = getattr(_C, "_cuda_architectures", None)
    return list(architectures()) if architectures else []


def synchronize(device=None) -> None:
    """Waits for all work on a device, by default the current one.

    Raises:
        RuntimeError: what a kernel found wrong, or no such device.
    """
    _lazy_init()
    _C._cuda_synchronize(device_index(device, optional=True))


def ipc_collect() -> None:
    """Does nothing but `init`: CUDA tensors go to other processes as copies,
    so none waits for another process to let go of it.
    """
    _lazy_init()
