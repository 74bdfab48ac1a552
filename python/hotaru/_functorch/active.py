"""Whether a transform, such as `grad` or `vmap`, is calling its function."""

from __future__ import annotations

import threading


class _Depth(threading.local):
    """How many transforms this thread is within."""

    count = 0


_depth = _Depth()


class Within:
    """The scope in which a transform calls its function."""

    def __enter__(self) -> None:
        _depth.count += 1

    def __exit__(self, *exception) -> None:
        _depth.count -= 1


def _are_functorch_transforms_active() -> bool:
    """Whether this thread is within a transform of `func`."""
    return _depth.count > 0
