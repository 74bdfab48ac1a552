"""Files of weights byte by byte, also such as no writer would make."""

from __future__ import annotations

import json
import struct
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[2] / "golden"

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32 = range(7)
BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64 = range(7, 13)


def safetensors(header, data: bytes = b"") -> bytes:
    """A file of a header, as text or as what JSON makes of it."""
    if not isinstance(header, (bytes, str)):
        header = json.dumps(header)
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header)) + header + data


def entry(dtype: str, shape, begin: int, end: int) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def text(value: str | bytes) -> bytes:
    """A string of GGUF."""
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(value)) + value


def key(name, kind: int, value: bytes) -> bytes:
    """A metadata entry of GGUF."""
    return text(name) + struct.pack("<I", kind) + value


def array(kind: int, count: int, items: bytes) -> bytes:
    return struct.pack("<IQ", kind, count) + items


def tensor(name, dims, kind: int, offset: int) -> bytes:
    """A line of GGUF's table; dims begin with the densest."""
    numbers = struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
    return text(name) + numbers + struct.pack("<IQ", kind, offset)


def gguf(
    keys=(),
    tensors=(),
    data: bytes = b"",
    *,
    version: int = 3,
    alignment: int = 32,
    counts: tuple[int, int] | None = None,
) -> bytes:
    """A file of entries as `key` and `tensor` make them."""
    n_tensors, n_keys = counts or (len(tensors), len(keys))
    head = b"GGUF" + struct.pack("<IQQ", version, n_tensors, n_keys)
    head += b"".join(keys) + b"".join(tensors)
    return head + bytes(-len(head) % alignment) + data
