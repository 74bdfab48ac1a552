"""Surroundings of a function, beside its arguments, to run it so once more."""

from __future__ import annotations

import contextlib
import warnings

from .. import (
    Tensor,
    amp,
    cuda,
    get_autocast_dtype,
    get_rng_state,
    is_autocast_enabled,
    random,
    set_rng_state,
)
from .._trees import flat as _tree


class DefaultDeviceType:
    """The type of device whose random state is kept when no argument tells."""

    _chosen: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Chooses the type."""
        DefaultDeviceType._chosen = device

    @staticmethod
    def get_device_type() -> str:
        """The one chosen, else "cuda" where there is a device, else "cpu"."""
        if DefaultDeviceType._chosen is None:
            return "cuda" if cuda.is_available() else "cpu"
        return DefaultDeviceType._chosen


def _device_tensors(args) -> list[Tensor]:
    return [
        leaf
        for leaf in _tree.flatten(args)[0]
        if isinstance(leaf, Tensor) and leaf.device.type != "cpu"
    ]


def _infer_device_type(*args) -> str:
    """The type of the arguments' devices; CUDA before others."""
    types = [tensor.device.type for tensor in _device_tensors(args)]
    if len(set(types)) > 1:
        warnings.warn(
            "Tensor arguments, excluding CPU tensors, are detected on at least "
            "two types of devices. Device state will only be saved for devices "
            "of a single device type, and the remaining devices will be "
            "ignored. Consequently, if any checkpointed functions involve "
            "randomness, this may result in incorrect gradients. (Note that if "
            "CUDA devices are among the devices detected, it will be "
            "prioritized; otherwise, the first device encountered will be "
            f"selected.)\nDevice types: {sorted(set(types))} first device "
            f"type: {types[0]}",
            stacklevel=2,
        )
    if not types:
        return DefaultDeviceType.get_device_type()
    return "cuda" if "cuda" in types else types[0]


def get_device_states(*args) -> tuple[list[int], list[Tensor]]:
    """Indices of the devices of the arguments, and their random states."""
    devices = [
        tensor.get_device()
        for tensor in _device_tensors(args)
        if tensor.device.type == "cuda"
    ]
    return devices, [cuda.get_rng_state(device) for device in devices]


def set_device_states(devices, states, *, device_type=None) -> None:
    """Gives devices the states that `get_device_states` returned."""
    if (device_type or DefaultDeviceType.get_device_type()) != "cuda":
        return
    for device, state in zip(devices, states):
        cuda.set_rng_state(state, device)


class Surroundings:
    """Random states and autocast, as they are when this is made."""

    def __init__(self, args: tuple, preserve_rng_state: bool) -> None:
        self._type = _infer_device_type(*args)
        self._autocast = [
            {
                "device_type": kind,
                "enabled": is_autocast_enabled(kind),
                "dtype": get_autocast_dtype(kind),
            }
            for kind in dict.fromkeys((self._type, "cpu"))
        ]
        self._preserve = preserve_rng_state
        self.had_device = cuda.is_initialized()
        self._devices: list[int] = []
        if preserve_rng_state:
            self._state = get_rng_state()
            if self.had_device:
                self._devices, self._states = get_device_states(*args)

    @contextlib.contextmanager
    def again(self):
        """A block under the same; the generators go on afterwards as before."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                random.fork_rng(
                    devices=self._devices,
                    enabled=self._preserve,
                    device_type=self._type,
                )
            )
            if self._preserve:
                set_rng_state(self._state)
                if self._devices:
                    set_device_states(
                        self._devices, self._states, device_type=self._type
                    )
            for options in self._autocast:
                stack.enter_context(amp.autocast(**options))
            yield
