"""Finding the operation whose gradient fails or is not a number."""

from __future__ import annotations

import warnings

from .. import _C

_WARNING = (
    "Anomaly Detection has been enabled. This mode will increase the runtime "
    "and should only be enabled for debugging."
)


class set_detect_anomaly:  # noqa: N801
    """Turns anomaly mode on or off, for all threads; a context until its end.

    In anomaly mode nodes remember where the forward pass was. When the gradient
    of one fails, a warning says so; with `check_nan` one that is not a number
    is a RuntimeError.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _C.is_anomaly_enabled()
        self.prev_check_nan = _C.is_anomaly_check_nan_enabled()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _C._set_anomaly(self.prev, self.prev_check_nan)


class detect_anomaly:  # noqa: N801
    """Anomaly mode within a context, with a warning that it is slow."""

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = _C.is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = _C.is_anomaly_check_nan_enabled()
        warnings.warn(_WARNING, stacklevel=2)

    def __enter__(self) -> None:
        self.prev = _C.is_anomaly_enabled()
        self.prev_check_nan = _C.is_anomaly_check_nan_enabled()
        _C._set_anomaly(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        _C._set_anomaly(self.prev, self.prev_check_nan)
