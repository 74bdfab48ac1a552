"""Activities that may be profiled, and what there is of them."""

from __future__ import annotations

import enum
import warnings

from .. import _C


class ProfilerActivity(enum.Enum):
    """Choices that PyTorch offers; hotaru records the CPU and CUDA."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


# Kinds of devices as `use_device` has them.
_DEVICES = {
    ProfilerActivity.CUDA: "cuda",
    ProfilerActivity.XPU: "xpu",
    ProfilerActivity.MTIA: "mtia",
    ProfilerActivity.HPU: "hpu",
    ProfilerActivity.PrivateUse1: "privateuseone",
}


def supported_activities() -> set[ProfilerActivity]:
    """Set of what can be recorded: the CPU, and CUDA if there is a device."""
    found = {ProfilerActivity.CPU}
    if _C._device_count("cuda") > 0:
        found.add(ProfilerActivity.CUDA)
    return found


def check_activities(found) -> None:
    if not found:
        raise AssertionError("No activities specified for the profiler")


def device_among(activities: set[ProfilerActivity]) -> str | None:
    """The kind of device of which the times are asked for, if any."""
    return next((d for a, d in _DEVICES.items() if a in activities), None)


def usable_device(name: str | None, stacklevel: int) -> str | None:
    """The same, or None with a warning that says that it is not there."""
    if name is None or (
        name == "cuda" and ProfilerActivity.CUDA in supported_activities()
    ):
        return name
    if name in ("cuda", "xpu", "hpu"):
        kind = name.upper()
        text = f"{kind} is not available, disabling {kind} profiling"
    else:
        text = f"The {name} is not a valid device option."
    warnings.warn(text, stacklevel=stacklevel + 1)
    return None
