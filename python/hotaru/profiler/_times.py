"""Times of events and of sums of them, as numbers and as texts."""

from __future__ import annotations

import warnings

from ._table import time_text


def deprecated(name: str, instead: str):
    """A property that warns and gives another one."""

    def get(self):
        warnings.warn(
            f"`{name}` is deprecated. Use `{instead}` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(self, instead)

    return property(get, doc=f"The older name of `{instead}`.")


def _text(name: str) -> property:
    return property(
        lambda self: time_text(getattr(self, name)), doc=f"`{name}` with its unit."
    )


class FormattedTimesMixin:
    """Means and texts, for whatever has sums and a `count`."""

    cpu_time_str = _text("cpu_time")
    device_time_str = _text("device_time")
    cpu_time_total_str = _text("cpu_time_total")
    device_time_total_str = _text("device_time_total")
    self_cpu_time_total_str = _text("self_cpu_time_total")
    self_device_time_total_str = _text("self_device_time_total")
    cuda_time = deprecated("cuda_time", "device_time")

    @property
    def cpu_time(self) -> float:
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Mean time on a device, of a call."""
        return self.device_time_total / self.count if self.count else 0.0
