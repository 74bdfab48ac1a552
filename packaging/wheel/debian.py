"""Files out of Debian's and Ubuntu's packages, of any release and machine, not
installed.

The folder that they come from is a private one of apt: nothing of the system's
lists or settings changes, and it needs no rights.
"""

import hashlib
import os
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org/debian"

#: Releases of Ubuntu, for Pythons that no Debian has had.
UBUNTU = ("jammy", "noble")
UBUNTU_MIRROR = "http://archive.ubuntu.com/ubuntu"
#: The package with Ubuntu's keys, which Debian has not, and its hash.
UBUNTU_KEYS = "pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb"
UBUNTU_KEYS_SHA256 = "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8"


def ubuntu_keys(folder: Path) -> Path:
    """Ubuntu's public keys, kept in a folder.

    Raises SystemExit if the mirror gives another file.
    """
    path = folder / "ubuntu-keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
    if not path.exists():
        with urllib.request.urlopen(f"{UBUNTU_MIRROR}/{UBUNTU_KEYS}") as answer:
            package = answer.read()
        if hashlib.sha256(package).hexdigest() != UBUNTU_KEYS_SHA256:
            raise SystemExit(f"{UBUNTU_MIRROR}/{UBUNTU_KEYS} is another file")
        archive = folder / "ubuntu-keys.deb"
        archive.write_bytes(package)
        run = ["dpkg-deb", "-x", str(archive), str(folder / "ubuntu-keys")]
        subprocess.run(run, check=True)
    return path


def keys_and_mirror(suite: str, folder: Path) -> tuple[Path, str]:
    """The public keys of a release, and where its packages are."""
    if suite in UBUNTU:
        return ubuntu_keys(folder), UBUNTU_MIRROR
    return Path(KEYS), MIRROR


@dataclass(frozen=True)
class Release:
    """One release for one machine, and the folder for its files."""

    suite: str
    machine: str
    folder: Path

    def _apt(self, *command: str, where: Path) -> None:
        """Runs apt-get with a configuration of this release alone."""
        state = self.folder / f"apt-{self.suite}-{self.machine}"
        for part in ("lists/partial", "cache/archives/partial"):
            (state / part).mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        keys, mirror = keys_and_mirror(self.suite, self.folder)
        sources = state / "sources.list"
        sources.write_text(
            "".join(
                f"{kind} [signed-by={keys}] {mirror} {self.suite} main\n"
                for kind in ("deb", "deb-src")
            )
        )
        settings = state / "apt.conf"
        settings.write_text(
            f'APT::Architecture "{self.machine}";\n'
            f'APT::Architectures {{ "{self.machine}"; }};\n'
            'APT::Sandbox::User "root";\n'
            'Acquire::Languages "none";\n'
            f'Dir::State "{state}";\n'
            f'Dir::State::lists "{state}/lists";\n'
            f'Dir::State::status "{state}/status";\n'
            f'Dir::Cache "{state}/cache";\n'
            f'Dir::Etc::sourcelist "{sources}";\n'
            'Dir::Etc::sourceparts "/dev/null";\n'
        )
        subprocess.run(
            ["apt-get", "-qq", *command],
            check=True,
            cwd=where,
            env={**os.environ, "APT_CONFIG": str(settings)},
        )

    def unpack(self, package: str) -> Path:
        """Returns a folder with the files of a binary package."""
        target = self.folder / f"{package}-{self.suite}-{self.machine}"
        if (target / ".done").exists():
            return target
        target.mkdir(parents=True, exist_ok=True)
        self._apt("update", where=target)
        self._apt("download", package, where=target)
        (archive,) = target.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
        (target / ".done").touch()
        return target

    def source(self, package: str) -> Path:
        """Returns a folder with the original sources of a source package."""
        target = self.folder / f"{package}-{self.suite}-source"
        if not (target / ".done").exists():
            target.mkdir(parents=True, exist_ok=True)
            self._apt("update", where=target)
            self._apt("source", "--download-only", package, where=target)
            # Beside a signature, where there is one.
            found = target.glob("*.orig.tar.*")
            (archive,) = (path for path in found if path.suffix != ".asc")
            subprocess.run(
                ["tar", "xf", archive, "--strip-components=1"], check=True, cwd=target
            )
            (target / ".done").touch()
        return target
