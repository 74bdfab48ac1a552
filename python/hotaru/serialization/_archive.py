"""The archives of `torch.save`: zip files of records that are not packed.

Format: APPNOTE.TXT of PKWARE, sections 4.3 and 4.5 (zip64). Records lie at
multiples of 64 bytes, so tensors of a mapped file are aligned.
"""

from __future__ import annotations

import ctypes
import os
import struct
import zipfile
import zlib

from .. import _C

_ALIGNMENT = 64
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_FULL = 0xFFFFFFFF
_PADDING = 0x4246  # "FB": the extra field that aligns, as PyTorch names it
_CHUNK = 1 << 24
_NEWEST = 10  # the last version of the format that is known


def storage_view(storage) -> memoryview:
    """The bytes of a storage, not copied. RuntimeError for another device's."""
    if storage.device.type != "cpu":
        raise RuntimeError(f"expected a storage on cpu, got one on {storage.device}")
    size = storage.nbytes()
    if size == 0:
        return memoryview(b"")
    memory = (ctypes.c_ubyte * size).from_address(storage.data_ptr())
    memory._storage = storage  # which thus outlives the view
    return memoryview(memory).cast("B")


def archive_name(path: str) -> str:
    """Name inside of an archive that is written to a path.

    RuntimeError where the path's folder is not there.
    """
    folder, file = os.path.split(path)
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    return os.path.splitext(file)[0] or "archive"


class Writer:
    """Writes an archive in order, so to anything with a `write`.

    Args:
        file: where the bytes go.
        name: the folder in the archive that all records are in.
        checksums: whether to compute the records' CRC-32.
    """

    def __init__(self, file, name: str = "archive", checksums=True) -> None:
        self._file = file
        self._name = name
        self._checksums = checksums
        self._offset = 0
        self._entries: list[tuple[bytes, int, int, int]] = []
        self._names: set[str] = set()

    def archive_name(self) -> str:
        """The folder of all records."""
        return self._name

    def get_all_written_records(self) -> set[str]:
        """The names of the records so far."""
        return set(self._names)

    def checksums(self) -> dict[str, int]:
        """The CRC-32 of each record, or 0, by its path."""
        return {path.decode(): crc for path, _, _, crc in self._entries}

    def write_record(self, name: str, data, size: int) -> None:
        """Writes bytes, a text or a storage as a record.

        RuntimeError: a record of that name is there.
        """
        if isinstance(data, _C.StorageBase):
            data = storage_view(data.cpu())
        elif isinstance(data, str):
            data = data.encode()
        data = memoryview(data).cast("B")[:size]
        crc = zlib.crc32(data) if self._checksums else 0
        self._begin(name, len(data), crc)
        self._write(data)

    def write_record_metadata(self, name: str, size: int) -> None:
        """Leaves room of that many bytes, zeros, for a record."""
        self._begin(name, size, 0)
        zeros = bytes(min(size, _CHUNK))
        for start in range(0, size, _CHUNK):
            self._write(zeros[: min(_CHUNK, size - start)])

    def _write(self, data) -> None:
        size = len(data)
        while len(data):
            # A file without a buffer may take a part only, and says how much.
            taken = self._file.write(data)
            if type(taken) is not int or not 0 < taken < len(data):
                break
            data = data[taken:]
        self._offset += size

    def _begin(self, name: str, size: int, crc: int) -> None:
        if name in self._names:
            raise RuntimeError(f"record '{name}' was already written")
        self._names.add(name)
        path = f"{self._name}/{name}".encode()
        big = size >= _FULL
        sizes = struct.pack("<2H2Q", 1, 16, size, size) if big else b""
        begin = self._offset + _LOCAL.size + len(path) + len(sizes) + 4
        padding = -begin % _ALIGNMENT
        extra = sizes + struct.pack("<2H", _PADDING, padding) + b"Z" * padding
        self._entries.append((path, self._offset, size, crc))
        shown = _FULL if big else size
        header = _LOCAL.pack(
            b"PK\3\4",
            45 if big else 20,
            0x800,
            0,
            0,
            0,
            crc,
            shown,
            shown,
            len(path),
            len(extra),
        )
        self._write(header + path + extra)

    def write_end_of_file(self) -> None:
        """Writes the version and the directory, which end the archive."""
        if not self._names & {"version", ".data/version"}:
            self.write_record("version", b"3\n", 2)
        start = self._offset
        for path, offset, size, crc in self._entries:
            big = [n for n in (size, size, offset) if n >= _FULL]
            extra = b""
            if big:
                extra = struct.pack(f"<2H{len(big)}Q", 1, 8 * len(big), *big)
            header = _CENTRAL.pack(
                b"PK\1\2",
                0x314,
                45 if big else 20,
                0x800,
                0,
                0,
                0,
                crc,
                min(size, _FULL),
                min(size, _FULL),
                len(path),
                len(extra),
                0,
                0,
                0,
                0,
                min(offset, _FULL),
            )
            self._write(header + path + extra)
        length, count = self._offset - start, len(self._entries)
        if start >= _FULL or count >= 0xFFFF:
            end = self._offset
            self._write(
                _END64.pack(
                    b"PK\6\6",
                    _END64.size - 12,
                    45,
                    45,
                    0,
                    0,
                    count,
                    count,
                    length,
                    start,
                )
                + _LOCATOR64.pack(b"PK\6\7", 0, end, 1)
            )
        few = min(count, 0xFFFF)
        self._write(_END.pack(b"PK\5\6", 0, 0, few, few, length, min(start, _FULL), 0))


class Reader:
    """Reads an archive from a path or a file that can seek.

    Of archives one behind the other it reads the first.

    Args:
        source: the path or the file.
        start: where in a file the archive begins.

    RuntimeError: what is no such archive, or one of a later format.
    """

    def __init__(self, source, start: int = 0) -> None:
        self._own = isinstance(source, (str, os.PathLike))
        self._file = open(source, "rb") if self._own else _rest(source, start)  # noqa: SIM115
        try:
            self._archive = _first_archive(self._file)
        except zipfile.BadZipFile:
            raise RuntimeError(
                "PytorchStreamReader failed reading zip archive: failed "
                "finding central directory"
            ) from None
        names = self._archive.namelist()
        if not names:
            raise RuntimeError(
                "PytorchStreamReader failed reading zip archive: archive does "
                "not contain any files"
            )
        self._root = names[0].split("/", 1)[0] + "/"
        self._check_version()

    def _check_version(self) -> None:
        if not self.has_record("version"):
            return
        text = self.get_record("version").strip()
        if text.isdigit() and int(text) > _NEWEST:
            raise RuntimeError(
                f"Attempted to read a PyTorch file with version {int(text)}, "
                f"but the maximum supported version for reading is {_NEWEST}. "
                "The version of your PyTorch installation may be too old, "
                "please upgrade PyTorch to latest version to mitigate this "
                "issue."
            )

    def close(self) -> None:
        """Closes the file if it was opened by its path."""
        self._archive.close()
        if self._own:
            self._file.close()

    def get_all_records(self) -> list[str]:
        """The names of the records."""
        size = len(self._root)
        return [
            name[size:]
            for name in self._archive.namelist()
            if name.startswith(self._root)
        ]

    def has_record(self, name: str) -> bool:
        """Tells whether there is such a record."""
        return self._root + name in self._archive.NameToInfo

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self._archive.NameToInfo.get(self._root + name)
        if entry is None:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name}: file not found"
            )
        return entry

    def get_record_offset(self, name: str) -> int:
        """Where in the file the bytes of a record begin."""
        entry = self._entry(name)
        self._file.seek(entry.header_offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: no header"
            )
        *_, name_size, extra_size = _LOCAL.unpack(header)
        return entry.header_offset + _LOCAL.size + name_size + extra_size

    def get_record(self, name: str) -> bytes:
        """The bytes of a record."""
        data = bytearray(self._entry(name).file_size)
        self.read_into(name, memoryview(data))
        return bytes(data)

    def read_into(self, name: str, target: memoryview) -> None:
        """Reads the first bytes of a record, as many as `target` has.

        RuntimeError: there are not as many.
        """
        entry = self._entry(name)
        if entry.compress_type != zipfile.ZIP_STORED:
            data = self._archive.read(entry)
            self._check(name, len(data), len(target))
            target[:] = data[: len(target)]
            return
        self._check(name, entry.file_size, len(target))
        self._file.seek(self.get_record_offset(name))
        self._check(name, _read_all(self._file, target), len(target))

    def _check(self, name: str, there: int, wanted: int) -> None:
        if there < wanted:
            raise RuntimeError(
                f"PytorchStreamReader failed reading file {name}: it has "
                f"{there} bytes, not {wanted}"
            )

    def check_size(self, name: str, nbytes: int) -> None:
        """RuntimeError unless a record has as many bytes as its storage."""
        there = self._entry(name).file_size
        self._check(name, there, nbytes)
        if there > nbytes:
            raise RuntimeError(
                f"record size ({there} bytes) of {name} does not match "
                f"expected size ({nbytes} bytes)"
            )

    def get_storage_from_record(self, name: str, nbytes: int, _dtype=None):
        """The bytes of a record as a storage on the CPU."""
        self.check_size(name, nbytes)
        storage = _C.UntypedStorage(nbytes, device="cpu")
        self.read_into(name, storage_view(storage))
        return storage


def _first_archive(file) -> zipfile.ZipFile:
    """The archive that a file begins with. `zipfile` looks for a directory at
    the end of the file, where another archive may have been written.
    """
    found = zipfile.ZipFile(file)
    begins = min((e.header_offset for e in found.infolist()), default=0)
    if not begins:
        return found
    file.seek(0)
    end = _end_of_first(file) if file.read(4) == b"PK\3\4" else 0
    return zipfile.ZipFile(_Part(file, 0, end)) if end else found


def _rest(file, start: int):
    """A file from a position on, as a file of its own."""
    if not start:
        return file
    file.seek(0, os.SEEK_END)
    return _Part(file, start, file.tell() - start)


def _end_of_first(file) -> int:
    """Where the first directory of a file ends; 0 where none fits."""
    start, rest = 0, b""
    while True:
        file.seek(start + len(rest))
        part = file.read(_CHUNK)
        data = rest + part
        at = data.find(b"PK\5\6")
        while 0 <= at <= len(data) - _END.size:
            *_, length, offset, comment = _END.unpack_from(data, at)
            here = start + at
            small = offset + length == here
            # Behind a larger directory come two records of where it is.
            before = data[max(at - _LOCATOR64.size, 0) : at][:4]
            large = offset == _FULL and before == b"PK\6\7"
            if small or large:
                return here + _END.size + comment
            at = data.find(b"PK\5\6", at + 4)
        if not part:
            return 0
        keep = _END.size + _LOCATOR64.size
        start += max(len(data) - keep, 0)
        rest = data[-keep:]


class _Part:
    """Some of the bytes of a file, as a file to read."""

    def __init__(self, file, start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begins = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}
        self._at = max(begins.get(whence, self._size) + offset, 0)
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(self._size - self._at, 0)
        self._file.seek(self._start + self._at)
        data = self._file.read(left if size < 0 else min(size, left))
        self._at += len(data)
        return data


def _read_all(file, target: memoryview) -> int:
    """How many bytes of `target` the file filled."""
    done = 0
    readinto = getattr(file, "readinto", None)
    while done < len(target):
        rest = target[done:]
        if readinto is not None:
            count = readinto(rest)
        else:
            part = file.read(min(len(rest), _CHUNK))
            count = len(part)
            rest[:count] = part
        if not count:
            break
        done += count
    return done
