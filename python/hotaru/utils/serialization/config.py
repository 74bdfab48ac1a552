"""Settings of `hotaru.save` and `hotaru.load` where arguments do not say.

`load.mmap = True` maps files that are given by their path; `load.endianness`,
`load.mmap_flags` and `save.compute_crc32` are those of
`set_default_load_endianness`, `set_default_mmap_options` and
`set_crc32_options`. Inside of `patch` other values hold.
"""

from __future__ import annotations

import contextlib

from ... import serialization as _serialization
from ...serialization._options import _Settings

__all__ = ["load", "patch", "save"]


class _Group:
    """Attributes that are there; others are a mistake."""

    def __setattr__(self, name: str, value) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__}.{name} does not exist")
        object.__setattr__(self, name, value)


class _Load(_Group):
    # Here the places of storages are computed or read to the same effect.
    calculate_storage_offsets: bool = False

    @property
    def mmap(self) -> bool:
        return _Settings.mmap

    @mmap.setter
    def mmap(self, value: bool) -> None:
        _Settings.mmap = value

    @property
    def endianness(self):
        return _Settings.endianness

    @endianness.setter
    def endianness(self, value) -> None:
        _serialization.set_default_load_endianness(value)

    @property
    def mmap_flags(self) -> int | None:
        return _Settings.mmap_flags

    @mmap_flags.setter
    def mmap_flags(self, value: int) -> None:
        _serialization.set_default_mmap_options(value)


class _Save(_Group):
    # Copies from a GPU wait for one another as it is.
    use_pinned_memory_for_d2h: bool = False

    @property
    def compute_crc32(self) -> bool:
        return _Settings.crc32

    @compute_crc32.setter
    def compute_crc32(self, value: bool) -> None:
        _Settings.crc32 = value

    @property
    def storage_alignment(self) -> int:
        return 64

    @storage_alignment.setter
    def storage_alignment(self, value: int) -> None:
        if value != 64:
            raise NotImplementedError(
                f"storages are written at multiples of 64 bytes, not {value}"
            )


load, save = _Load(), _Save()
_GROUPS = {"load": load, "save": save}


@contextlib.contextmanager
def patch(name: str | dict, value=None):
    """Inside, settings have other values: `patch("load.mmap", True)`, or a
    dict of such. Also a decorator.

    AttributeError: there is no such setting.
    """
    changes = name if isinstance(name, dict) else {name: value}
    before = []
    try:
        for each, new in changes.items():
            group, _, setting = each.partition(".")
            if group not in _GROUPS:
                raise AttributeError(f"config.{each} does not exist")
            old = getattr(_GROUPS[group], setting)
            setattr(_GROUPS[group], setting, new)
            before.append((_GROUPS[group], setting, old))
        yield
    finally:
        for group, setting, old in reversed(before):
            setattr(group, setting, old)
