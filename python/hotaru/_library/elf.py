"""Which libraries a shared library asks the loader for."""

from __future__ import annotations

import mmap
import os
import struct

_LOAD, _DYNAMIC = 1, 2  # kinds of segments
_NEEDED, _STRINGS = 1, 5  # entries of the dynamic one


def needed(path: str | os.PathLike) -> list[str]:
    """The names of its DT_NEEDED entries.

    Empty for what is no ELF file of 64 bits, or a damaged one: the loader says
    what is wrong with it.
    """
    try:
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _needed(data) if data[:6] == b"\x7fELF\x02\x01" else []
    except (OSError, ValueError, OverflowError, struct.error):
        return []


def _needed(data) -> list[str]:
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [
        struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)
    ]
    entries = []
    for kind, _, offset, _, _, length in segments:
        if kind == _DYNAMIC:
            part = data[offset : offset + length // 16 * 16]
            entries += struct.iter_unpack("<QQ", part)
    addresses = [value for tag, value in entries if tag == _STRINGS]
    for kind, _, offset, address, _, length in segments:
        if kind == _LOAD and addresses:
            at = addresses[0] - address
            if 0 <= at < length:
                return [
                    _text(data, offset + at + value)
                    for tag, value in entries
                    if tag == _NEEDED
                ]
    return []


def _text(data, at: int) -> str:
    end = data.find(b"\0", at)
    return data[at:end].decode(errors="replace")
