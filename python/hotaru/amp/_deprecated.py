"""Names of mixed precision that `torch.cpu.amp` and `torch.cuda.amp` have."""

from __future__ import annotations

import warnings

from . import GradScaler, autocast


def warn(device: str, name: str, here: str | None = None) -> None:
    """Says in whose place to use what, to the caller of the caller."""
    here = here or f"torch.amp.{name}('{device}', args...)"
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use "
        f"`{here}` instead.",
        FutureWarning,
        stacklevel=3,
    )


def deprecated(device: str, module: str, reduced) -> tuple[type, type]:
    """The classes autocast and GradScaler of a device, by their old names."""

    class Autocast(autocast):
        def __init__(
            self, enabled: bool = True, dtype=reduced, cache_enabled: bool = True
        ) -> None:
            warn(device, "autocast")
            super().__init__(
                device, enabled=enabled, dtype=dtype, cache_enabled=cache_enabled
            )

    class Scaler(GradScaler):
        def __init__(
            self,
            init_scale: float = 2.0**16,
            growth_factor: float = 2.0,
            backoff_factor: float = 0.5,
            growth_interval: int = 2000,
            enabled: bool = True,
        ) -> None:
            warn(device, "GradScaler")
            super().__init__(
                device,
                init_scale,
                growth_factor,
                backoff_factor,
                growth_interval,
                enabled,
            )

    for made, name in ((Autocast, "autocast"), (Scaler, "GradScaler")):
        made.__name__ = made.__qualname__ = name
        made.__module__ = module
        made.__doc__ = f'Deprecated: ``torch.amp.{name}("{device}", …)``.'
    return Autocast, Scaler
