"""Which kinds of attention may be used.

Where a device has fused kernels (CUDA), they are both FLASH_ATTENTION and
EFFICIENT_ATTENTION, and MATH is products and a softmax; elsewhere attention is
computed in one way, whatever is allowed here.
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import Enum

from .. import _C


class SDPBackend(Enum):
    """PyTorch's kinds of attention, which have numbers but are none."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value


# True for each that may be used, in the order in which they are listed.
allowed = {
    SDPBackend.CUDNN_ATTENTION: True,
    SDPBackend.FLASH_ATTENTION: True,
    SDPBackend.EFFICIENT_ATTENTION: True,
    SDPBackend.MATH: True,
    SDPBackend.OVERRIDEABLE: True,
}
_priority = [
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.OVERRIDEABLE,
]


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The kinds that are allowed, in the order of priority if asked for."""
    kinds = [kind for kind, on in allowed.items() if on]
    return sorted(kinds, key=_priority.index) if with_priority else kinds


def _tell() -> None:
    """Lets the operator know what is allowed."""
    kinds = _cur_sdpa_kernel_backends(with_priority=True)
    _C._set_attention_kinds([int(kind) for kind in kinds])


def allow_kind(kind: SDPBackend, on: bool) -> None:
    """Allows or forbids one kind."""
    allowed[kind] = bool(on)
    _tell()


def _allow(kinds: list, set_priority: bool) -> None:
    allowed.update({kind: kind in kinds for kind in allowed})
    if set_priority:
        others = [kind for kind in _priority if kind not in kinds]
        _priority[:] = [*kinds, *others]
    _tell()


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False):
    """A block in which only these kinds of attention are allowed.

    Args:
        backends: one or a list.
        set_priority: the list is in the order in which to try them.

    Raises:
        AssertionError: something else.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend "
            f"instances, got {type(backends).__name__}"
        )
    kinds = backends if isinstance(backends, list) else [backends]
    before = _cur_sdpa_kernel_backends(with_priority=set_priority)
    _allow(list(dict.fromkeys(kinds)), set_priority)
    try:
        yield {}
    finally:
        _allow(before, set_priority)


# Their names are those of the module that offers them.
for _public in (SDPBackend, sdpa_kernel):
    _public.__module__ = "hotaru.nn.attention"
