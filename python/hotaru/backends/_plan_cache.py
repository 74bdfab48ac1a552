"""cuFFT's plans, which are kept for each device."""

from __future__ import annotations

from .. import _C
from .._late import lent


class CufftPlanCache:
    """The plans of one device: `size` of them, `max_size` at most (64 unless it
    is set), those used last.
    """

    def __init__(self, device: int) -> None:
        self._device = device

    @property
    def size(self) -> int:
        """How many there are."""
        return _C._cuda_fft_plans(self._device)[0]

    @size.setter
    def size(self, value) -> None:
        raise RuntimeError(
            ".size is a read-only property showing the number of plans "
            "currently in the cache. "
            "To change the cache capacity, set cufft_plan_cache.max_size."
        )

    @property
    def max_size(self) -> int:
        """How many are kept; RuntimeError where it is set below 0."""
        return _C._cuda_fft_plans(self._device)[1]

    @max_size.setter
    def max_size(self, value: int) -> None:
        _C._cuda_limit_fft_plans(self._device, value)

    def clear(self) -> None:
        """Gives all of them up."""
        most = self.max_size
        self.max_size = 0
        self.max_size = most


class CufftPlanCaches(CufftPlanCache):
    """The current device's; those of another one by its number, or by a device,
    in brackets.
    """

    def __init__(self) -> None:
        """Looks at no device yet."""

    @property
    def _device(self) -> int:
        return _C._cuda_current_device()

    def __getitem__(self, device) -> CufftPlanCache:
        index = lent("cuda_index")(device)
        count = _C._device_count("cuda")
        if not 0 <= index < count:
            raise RuntimeError(
                f"cufft_plan_cache: expected 0 <= device index < {count}, but "
                f"got device with index {index}"
            )
        return CufftPlanCache(index)
