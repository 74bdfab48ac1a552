"""Processes in a grid: the class, of which none is."""

from __future__ import annotations

__all__ = ["DeviceMesh", "init_device_mesh"]

_NONE = (
    "torch.distributed.device_mesh: hotaru has no transport between processes, "
    "so that they form no grid; run without one"
)


class DeviceMesh:
    """A grid of processes; programs ask whether something is of this class.

    Raises:
        NotImplementedError: where one would be made.
    """

    def __init__(self, *args, **kwargs) -> None:
        raise NotImplementedError(_NONE)


def init_device_mesh(device_type: str, mesh_shape, **kwargs) -> DeviceMesh:
    """Refuses: see the class."""
    raise NotImplementedError(_NONE)
