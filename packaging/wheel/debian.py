"""Files out of Debian's packages, of any release and machine, not installed.

The folder that they come from is a private one of apt: nothing of the system's
lists or settings changes, and it needs no rights.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org/debian"


@dataclass(frozen=True)
class Release:
    """One release of Debian for one machine, and the folder for its files."""

    suite: str
    machine: str
    folder: Path

    def _apt(self, *command: str, where: Path) -> None:
        """Runs apt-get with a configuration of this release alone."""
        state = self.folder / f"apt-{self.suite}-{self.machine}"
        for part in ("lists/partial", "cache/archives/partial"):
            (state / part).mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        sources = state / "sources.list"
        sources.write_text(
            "".join(
                f"{kind} [signed-by={KEYS}] {MIRROR} {self.suite} main\n"
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
            (archive,) = target.glob("*.orig.tar.*")
            subprocess.run(
                ["tar", "xf", archive, "--strip-components=1"], check=True, cwd=target
            )
            (target / ".done").touch()
        return target
