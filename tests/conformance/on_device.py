"""The cases of a file with their tensors on another device than PyTorch's."""

from __future__ import annotations

from plain import Decoder

import hotaru as torch


class Mover:
    """Copies of tensors on a device: with their strides, and sharing memory
    where the originals do.
    """

    def __init__(self, device: str):
        self.device = device
        self.storages: dict[int, object] = {}

    def __call__(self, x):
        storage = x.untyped_storage()
        if storage.data_ptr() not in self.storages or storage.nbytes() == 0:
            host = torch.empty(0, dtype=torch.uint8, device="cpu")
            flat = host.set_(storage)
            moved = flat.to(self.device).untyped_storage()
            # The original stays, so that nothing else comes to its address.
            self.storages[storage.data_ptr()] = (moved, storage)
        moved, _ = self.storages[storage.data_ptr()]
        like = torch.empty(0, dtype=x.dtype, device=self.device)
        return like.set_(moved, x.storage_offset(), x.size(), x.stride())


class DeviceDecoder(Decoder):
    """Reads cases whose devices mean `device` where they say "cpu"."""

    device = "cpu"

    def _device(self, text):
        return self.torch.device(self.device if text == "cpu" else text)


def back(x, device: str):
    """A result on the CPU, to be compared; it has to come from `device`."""
    if x.device.type != device:
        raise AssertionError(f"the result is on {x.device}")
    return x.detach().cpu()
