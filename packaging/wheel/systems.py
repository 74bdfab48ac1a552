"""Bare systems that wheels are tried in: folders that chroot enters.

Debian's and Ubuntu's are debootstrap'ed. Where a release has no Python of the
version, one is compiled from Debian's source of it: on Debian 11 in a second
folder, so that the bare one keeps no compiler; for musl here, by GCC with musl's
headers. The system of musl is its loader, busybox and that Python: no more is
there of a libc than a container of Alpine's has.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import musl_root
from commands import jobs, run

from debian import UBUNTU, Release, keys_and_mirror

#: Releases of Debian whose source of a Python is compiled.
SOURCES = {"3.11": "bookworm", "3.13": "trixie"}
PREFIX = "/opt/python"

#: GCC for musl; Python's configure asks it for the name of the system.
COMPILER = f"""#!/bin/sh
[ "$1" = --print-multiarch ] && exec echo x86_64-linux-musl
exec {" ".join(musl_root.compiler("x86_64", "gcc"))} "$@"
"""


@dataclass(frozen=True)
class System:
    """A release, or musl; and the Python of it that is tried."""

    suite: str
    python: str
    is_built: bool = False

    @property
    def name(self) -> str:
        """The name on the command line and in the table."""
        return f"{self.suite}-{self.python}"

    @property
    def executable(self) -> str:
        """The Python's path there."""
        return f"{PREFIX if self.is_built else '/usr'}/bin/python{self.python}"


SYSTEMS = {
    system.name: system
    for system in (
        System("bullseye", "3.11", is_built=True),
        System("bookworm", "3.11"),
        System("trixie", "3.13"),
        System("sid", "3.13"),
        System("sid", "3.14"),
        System("sid", "3.15"),
        System("jammy", "3.10"),
        System("noble", "3.12"),
        System("musl", "3.13", is_built=True),
    )
}


def bootstrap(suite: str, root: Path, *packages: str) -> None:
    """Makes a release's smallest system with some packages."""
    shutil.rmtree(root, ignore_errors=True)
    keys, mirror = keys_and_mirror(suite, root.parent)
    components = "main,universe" if suite in UBUNTU else "main"
    scripts = Path("/usr/share/debootstrap/scripts")
    # Ubuntu's releases are all made by the script of one.
    script = scripts / (suite if (scripts / suite).exists() else "gutsy")
    run(
        *("debootstrap", "--variant=minbase", f"--keyring={keys}"),
        *(f"--components={components}", suite, root, mirror, script),
    )
    shutil.copy("/etc/resolv.conf", root / "etc")
    install(root, *packages)


def install(root: Path, *packages: str) -> None:
    """Installs packages in a system."""
    run(
        *("chroot", root, "apt-get", "-qq", "-y", "--no-install-recommends"),
        *("install", *packages),
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )


def python_source(version: str, folder: Path) -> Path:
    """The source of a Python, from Debian."""
    return Release(SOURCES[version], "amd64", folder).source(f"python{version}")


def built_there(system: System, root: Path, folder: Path) -> None:
    """Compiles Python in a system like this one, and copies what was made."""
    workshop = folder / f"{system.suite}-workshop"
    if not (workshop / "usr/bin/gcc").exists():
        needed = ("gcc", "libc6-dev", "make", "zlib1g-dev", "libffi-dev")
        bootstrap(system.suite, workshop, *needed)
    source = workshop / f"source-{system.python}"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(python_source(system.python, folder), source)
    script = (
        f"cd /{source.name} && ./configure --prefix={PREFIX} --disable-test-modules"
        f" && make -j{jobs()} && make install"
    )
    run("chroot", workshop, "sh", "-c", script)
    shutil.copytree(workshop / PREFIX[1:], root / PREFIX[1:], symlinks=True)
    install(root, "libffi7", "zlib1g")


def built_for_musl(system: System, root: Path, folder: Path) -> None:
    """Compiles Python and what it needs here, for musl, and copies what was made."""
    made = folder / "musl-libraries"
    include, library = made / "include", made / "lib"
    musl_root.link_kernel_headers("x86_64", include)
    compiler = made / "cc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    environment = {
        **os.environ,
        "CC": str(compiler),
        "CFLAGS": f"-O2 -fPIC -I{include}",
        "LDFLAGS": f"-L{library}",
        "PKG_CONFIG": "/bin/false",
    }
    own = Release("bookworm", "amd64", folder)
    for name, switches in (
        ("zlib", ["--static"]),
        ("libffi", ["--disable-shared", "--host=x86_64-linux-musl"]),
    ):
        source = folder / f"musl-{name}"
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(own.source(name), source)
        options = {"cwd": source, "env": environment}
        run("./configure", f"--prefix={made}", *switches, **options)
        run("make", f"-j{jobs()}", "install", **options)
    source = folder / f"musl-python{system.python}"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(python_source(system.python, folder), source)
    options = {"cwd": source, "env": environment}
    run("./configure", f"--prefix={PREFIX}", "--disable-test-modules", **options)
    run("make", f"-j{jobs()}", **options)
    run("make", "install", f"DESTDIR={root}", **options)


def musl_system(root: Path, folder: Path) -> None:
    """Makes a system of musl's loader and busybox alone."""
    shutil.rmtree(root, ignore_errors=True)
    for name in ("bin", "lib", "tmp", "dev", "proc", "etc", "usr/bin"):
        (root / name).mkdir(parents=True)
    # Musl 1.2.5: NumPy's wheel for 1.2 crashes in the loader of 1.2.3.
    debian = Release("trixie", "amd64", folder)
    (loader,) = debian.unpack("musl").glob("usr/lib/x86_64-linux-musl/libc.so")
    shutil.copy(loader, root / "lib/ld-musl-x86_64.so.1")
    busybox = debian.unpack("busybox-static") / "usr/bin/busybox"
    shutil.copy(busybox, root / "bin")
    for program in ("sh", "dirname", "readlink", "cat", "ls", "uname", "sleep"):
        (root / "bin" / program).symlink_to("busybox")
    (root / "dev/fd").symlink_to("/proc/self/fd")
    (root / "usr/bin/env").symlink_to("/bin/busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")


def bare_system(system: System, folder: Path) -> Path:
    """A folder with the system, Python and its venv, and nothing else."""
    root = folder / system.name
    if (root / ".made").exists():
        return root
    if system.suite == "musl":
        musl_system(root, folder)
        built_for_musl(system, root, folder)
    elif system.is_built:
        bootstrap(system.suite, root)
        built_there(system, root, folder)
    else:
        bootstrap(system.suite, root, f"python{system.python}-venv")
    for device, number in (("null", 3), ("zero", 5), ("urandom", 9)):
        path = root / "dev" / device
        if not path.exists():
            run("mknod", "-m", "666", path, "c", "1", str(number))
    (root / ".made").touch()
    return root
