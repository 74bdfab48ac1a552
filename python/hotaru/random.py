"""Random state: of the CPU, and of CUDA devices where both are meant."""

from __future__ import annotations

import contextlib
import warnings

from . import _C
from ._C import Generator as Generator
from ._C import default_generator, get_rng_state, initial_seed, set_rng_state

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]


def manual_seed(seed) -> _C.Generator:
    """Seeds the CPU's generator, which it returns, and those of all CUDA
    devices; these when a driver is known: nothing is loaded here.

    Args:
        seed: an integer of 64 bits, signed or not.
    """
    from .cuda.random import manual_seed_all

    seed = int(seed)
    generator = _C.manual_seed(seed)
    manual_seed_all(seed)
    return generator


def seed() -> int:
    """Seeds as `manual_seed` does with a number of chance; returns that."""
    from .cuda.random import manual_seed_all

    chosen = _C.seed()
    manual_seed_all(chosen)
    return chosen


def thread_safe_generator() -> _C.Generator | None:
    """The generator of the thread of a loader that calls, to draw from.

    None, for the global one: loaders work in processes here, which have a
    global generator each.
    """
    return None


_warned = False


@contextlib.contextmanager
def fork_rng(
    devices=None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
):
    """Restores the states of generators at the end of a ``with`` block.

    Args:
        devices: CUDA devices whose generators are restored beside the CPU's;
            by default all, with a warning where there are several.
        enabled: whether anything is done at all.
        device_type: "cuda", or another type without generators to restore.
    """
    global _warned
    if not enabled:
        yield
        return
    if device_type not in (None, "cuda", "cpu", "meta"):
        raise RuntimeError(
            f"torch has no module of `{device_type}`, you should register a "
            "module by `torch._register_device_module`."
        )
    from . import cuda

    if device_type in ("cpu", "meta"):
        devices = []
    elif devices is None:
        count = cuda.device_count()
        if count > 1 and not _warned:
            _warned = True
            warnings.warn(
                _SEVERAL.format(count=count, caller=_caller, keyword=_devices_kw),
                stacklevel=3,
            )
        devices = range(count)
    devices = list(devices)
    state = get_rng_state()
    states = [cuda.get_rng_state(device) for device in devices]
    try:
        yield
    finally:
        set_rng_state(state)
        for device, of_device in zip(devices, states):
            cuda.set_rng_state(of_device, device)


_SEVERAL = (
    "CUDA reports that you have {count} available devices, and you have used "
    "{caller} without explicitly specifying which devices are being used. For "
    "safety, we initialize *every* CUDA device by default, which can be quite "
    "slow if you have a lot of CUDAs. If you know that you are only making use "
    "of a few CUDA devices, set the environment variable CUDA_VISIBLE_DEVICES "
    "or the '{keyword}' keyword argument of {caller} with the set of devices "
    "you are actually using. For example, if you are using CPU only, set "
    "device.upper()_VISIBLE_DEVICES= or devices=[]; if you are using device 0 "
    "only, set CUDA_VISIBLE_DEVICES=0 or devices=[0].  To initialize all "
    "devices and suppress this warning, set the '{keyword}' keyword argument "
    "to `range(torch.cuda.device_count())`."
)
