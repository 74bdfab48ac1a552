"""A wheel as its files, written so that the same files give the same bytes."""

import base64
import hashlib
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

#: The earliest date that a zip can say, for builds without SOURCE_DATE_EPOCH.
EARLIEST = 315532800

EXECUTABLE, PLAIN = 0o100755, 0o100644


@dataclass
class WheelFile:
    """Files by their path in the wheel; those in `executable` may be run."""

    files: dict[str, bytes] = field(default_factory=dict)
    executable: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> "WheelFile":
        """Reads a wheel's files, without its RECORD, which writing makes."""
        wheel = cls()
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.is_dir() or entry.filename.endswith(".dist-info/RECORD"):
                    continue
                wheel.files[entry.filename] = archive.read(entry)
                if entry.external_attr >> 16 & 0o111:
                    wheel.executable.add(entry.filename)
        return wheel

    @property
    def dist_info(self) -> str:
        """The name of the folder of metadata."""
        (name,) = {
            folder
            for path in self.files
            if (folder := PurePosixPath(path).parts[0]).endswith(".dist-info")
        }
        return name

    @property
    def scripts(self) -> str:
        """The folder of what pip puts beside Python's own command."""
        return f"{self.dist_info.removesuffix('.dist-info')}.data/scripts"

    def add(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Puts a file in, in place of one with that path."""
        self.files[path] = data
        (self.executable.add if executable else self.executable.discard)(path)

    def remove(self, pattern: str) -> None:
        """Takes out the files whose path matches a pattern of the shell."""
        for path in [p for p in self.files if PurePosixPath(p).match(pattern)]:
            del self.files[path]
            self.executable.discard(path)

    def set_tags(self, python: str, abi: str, platform: str) -> None:
        """Says for which Python, which of its ABIs and which platform it is."""
        path = f"{self.dist_info}/WHEEL"
        lines = [
            line
            for line in self.files[path].decode().splitlines()
            if line and not line.startswith(("Tag:", "Build:"))
        ]
        lines.append(f"Tag: {python}-{abi}-{platform}")
        self.files[path] = "\n".join([*lines, ""]).encode()

    def filename(self) -> str:
        """The wheel's name, of its version and its tag."""
        wheel = self.files[f"{self.dist_info}/WHEEL"].decode()
        (tag,) = [
            line.split()[1] for line in wheel.splitlines() if line.startswith("Tag:")
        ]
        return f"{self.dist_info.removesuffix('.dist-info')}-{tag}.whl"

    def _record(self) -> bytes:
        """The list of files with their hashes (PEP 376)."""
        lines = []
        for path, data in sorted(self.files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            lines.append(f"{path},sha256={digest.rstrip(b'=').decode()},{len(data)}")
        lines.append(f"{self.dist_info}/RECORD,,")
        return "\n".join([*lines, ""]).encode()

    def write(self, folder: Path, date: int = EARLIEST) -> Path:
        """Writes the wheel into a folder; `date` is what its files have."""
        stamp = time.gmtime(max(date, EARLIEST))[:6]
        record = f"{self.dist_info}/RECORD"
        last = [path for path in self.files if path.startswith(self.dist_info)]
        first = [path for path in self.files if not path.startswith(self.dist_info)]
        path = folder / self.filename()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
            for name in [*sorted(first), *sorted(last), record]:
                data = self._record() if name == record else self.files[name]
                entry = zipfile.ZipInfo(name, stamp)
                mode = EXECUTABLE if name in self.executable else PLAIN
                entry.external_attr = mode << 16
                entry.create_system = 3  # Unix, wherever it is written
                entry.compress_type = zipfile.ZIP_DEFLATED
                out.writestr(entry, data)
        return path
