"""Random state of CUDA devices: each has one generator.

Seeding works without a device and loads nothing: it takes effect when one is
there. Draws are PyTorch's for the same seed on the same kind of device.
"""

from __future__ import annotations

from .. import _C
from .._own_names import no_attribute
from ._begin import device_count, when_known
from .devices import device_index

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def _all_generators() -> tuple:
    return tuple(map(_C._cuda_generator, range(device_count())))


def _generator(device) -> _C.Generator:
    # None of this begins to use a device: a generator lives on the host.
    device_count()
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device) and device == _C.device("cuda"):
        index = _C._cuda_current_device()
    else:
        index = device_index(device)
    return _C._cuda_generator(index)


def get_rng_state(device="cuda") -> _C.Tensor:
    """The state of a device's generator, 16 bytes on the CPU."""
    return _generator(device).get_state()


def get_rng_state_all() -> list:
    """The states of all devices' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: _C.Tensor, device="cuda") -> None:
    """Gives a device's generator a state of `get_rng_state`.

    Raises:
        TypeError: not bytes. RuntimeError: not such a state, no such device;
            where no device is known yet, when one is.
    """
    state = new_state.clone()
    when_known(lambda: _generator(device).set_state(state))


def set_rng_state_all(new_states) -> None:
    """`set_rng_state` for each device, with what `get_rng_state_all` gave."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator, without a GPU nothing."""
    seed = int(seed)
    when_known(lambda: _generator("cuda").manual_seed(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices; `torch.manual_seed` does, too."""
    seed = int(seed)

    def run() -> None:
        for generator in _all_generators():
            generator.manual_seed(seed)

    when_known(run, replaces_all=True)


def seed() -> None:
    """Seeds the current device's generator with a number of chance."""
    when_known(lambda: _generator("cuda").seed())


def seed_all() -> None:
    """Seeds the generators of all devices with one number of chance."""

    def run() -> None:
        first, *others = _all_generators()
        seed = first.seed()
        for generator in others:
            generator.manual_seed(seed)

    when_known(run, replaces_all=True)


def __getattr__(name: str):
    # Not made before somebody asks: that loads the driver.
    if name == "default_generators":
        return _all_generators()
    raise no_attribute(__name__, name)


def initial_seed() -> int:
    """Returns what the current device's generator was seeded with last."""
    return _generator("cuda").initial_seed()
