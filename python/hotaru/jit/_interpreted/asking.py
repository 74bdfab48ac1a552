"""Archives that Python runs: which they are. Every load asks, so this file
imports little and reads the code alone.
"""

from __future__ import annotations

import io
import os

# Text that only Python runs.
_MARKS = (
    b"torch.classes.quantized",
    b"torch.classes.rnn",
    b"ops.quantized.",
    b"torch.quantize_per_",
    b"torch._empty_affine_quantized",
    b"torch.dequantize(",
    b"torch.quantized_",
    b"torch.to_mkldnn(",
    b"torch.mkldnn_",
)
# Text of which one branch makes nested tensors, and Python runs that call.
_NESTED = b"torch._nested_tensor_from_mask"
_END, _ENTRY, _LOCAL = b"PK\5\6", b"PK\1\2", b"PK\3\4"
# Most bytes of code, beyond which the native loader refuses an archive.
_LEAST, _TIMES = 80 << 20, 32


def asks_for_python(given) -> str:
    """Tells for what the code of an archive needs Python: "all", "nested" for
    calls that make nested tensors, or "".

    `given` is a path or bytes. What is no archive is nobody's to run.
    """
    found = ""
    try:
        with _opened(given) as file:
            for text in _codes(file):
                if any(mark in text for mark in _MARKS):
                    return "all"
                if _NESTED in text:
                    found = "nested"
    except (OSError, ValueError):
        return ""
    return found


def _opened(given):
    return io.BytesIO(given) if isinstance(given, bytes) else open(given, "rb")


def _codes(file):
    """The text of each file of code. ValueError: no archive."""
    import zlib

    room = 0
    for name, method, packed, size, place in _entries(file):
        if b"/code/" not in name or not name.endswith(b".py"):
            continue
        room += _TIMES * packed - size
        if room + _LEAST < 0:
            raise ValueError("code beyond any compression")
        file.seek(place)
        header = file.read(30)
        if header[:4] != _LOCAL:
            raise ValueError("no record")
        skipped = _number(header, 26, 2) + _number(header, 28, 2)
        file.seek(skipped, os.SEEK_CUR)
        data = file.read(packed)
        if method == 8:
            try:
                data = zlib.decompressobj(-15).decompress(data, size)
            except zlib.error as error:
                raise ValueError("damaged code") from error
        yield data


def _entries(file):
    """Name, method, sizes and place of each record."""
    file.seek(0, os.SEEK_END)
    length = file.tell()
    file.seek(max(0, length - (1 << 16) - 22))
    tail = file.read()
    end = tail.rfind(_END)
    if end < 0:
        raise ValueError("no archive")
    count = _number(tail, end + 10, 2)
    size, start = _number(tail, end + 12, 4), _number(tail, end + 16, 4)
    if 0xFFFFFFFF in (size, start) or count == 0xFFFF:
        yield from _large(file)
        return
    file.seek(start)
    table = file.read(size)
    at = 0
    for _ in range(count):
        if table[at : at + 4] != _ENTRY:
            raise ValueError("a damaged directory")
        method = _number(table, at + 10, 2)
        packed, plain = _number(table, at + 20, 4), _number(table, at + 24, 4)
        lengths = [_number(table, at + n, 2) for n in (28, 30, 32)]
        place = _number(table, at + 42, 4)
        name = table[at + 46 : at + 46 + lengths[0]]
        if name.endswith(b".py"):
            yield name, method, packed, plain, place
        at += 46 + sum(lengths)


def _number(data: bytes, place: int, size: int) -> int:
    """An integer of a directory. ValueError: it ends before."""
    found = data[place : place + size]
    if len(found) != size:
        raise ValueError("a damaged directory")
    return int.from_bytes(found, "little")


def _large(file):
    """The same of archives of more than 4 GiB."""
    import zipfile

    try:
        infos = zipfile.ZipFile(file).infolist()
    except zipfile.BadZipFile as error:
        raise ValueError("no archive") from error
    for info in infos:
        yield (
            info.filename.encode(),
            info.compress_type,
            info.compress_size,
            info.file_size,
            info.header_offset,
        )
