"""Platforms that wheels are made for, and how their binaries are compiled."""

import io
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import link_root
import musl_root
from commands import jobs, relink

from debian import UBUNTU, Release

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Python:
    """A Python that an extension is compiled for: `headers` are of this version,
    out of a release of Debian or Ubuntu. A stable one serves all later Pythons, too.
    """

    version: str
    headers: str
    suite: str
    is_stable: bool = False

    @property
    def tags(self) -> tuple[str, str]:
        """The tags of its wheels: of the Python and of its ABI."""
        number = f"cp{self.version.replace('.', '')}"
        return number, "abi3" if self.is_stable else number

    def extension(self, platform: "Platform") -> str:
        """The extension's path in a wheel."""
        system = f"{platform.machine}-linux-{platform.libc}"
        number = self.version.replace(".", "")
        kind = "abi3" if self.is_stable else f"cpython-{number}-{system}"
        return f"hotaru/_C.{kind}.so"


#: Pythons by version. The stable one is for 3.12, whose headers Debian has not, and
#: for those to come: calls by name take 5 to 7 % longer with it, so the others have
#: wheels of their own, which pip prefers.
PYTHONS = {
    python.version: python
    for python in (
        Python("3.10", "3.10", "jammy"),
        Python("3.11", "3.11", "bookworm"),
        Python("3.12", "3.13", "trixie", is_stable=True),
        Python("3.13", "3.13", "trixie"),
        Python("3.14", "3.14", "sid"),
        Python("3.15", "3.15", "sid"),
    )
}

#: Switches of every build: wheels hold the library, the extension and the command.
SWITCHES = (
    *("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DHOTARU_SIMD=all"),
    *("-DHOTARU_CUDA=OFF", "-DHOTARU_SOFT_GPU=OFF", "-DHOTARU_LIBTORCH=OFF"),
    *("-DSKBUILD=ON", "-DSKBUILD_SCRIPTS_DIR=bin"),
)

#: Headers that have no machine code of their own, so that this machine's serve.
HEADERS = ("hwy", "rapidjson", "protozero", "nlohmann", "CLI", "zlib.h", "zconf.h")


@dataclass(frozen=True)
class Platform:
    """A machine and a C library (gnu, musl); `name` is what the command line says."""

    name: str
    machine: str
    debian: str
    tag: str
    libc: str = "gnu"

    def folder(self, part: str) -> Path:
        """A build's folder, beside build/: so the compiler's cache, which goes by
        paths from there, has what `./dev build --every-target` compiled.
        """
        return ROOT / f"build-{self.name}-{part}"

    @property
    def link_root(self) -> Path:
        """The folder that its binaries are linked against."""
        return self.folder("root")

    @property
    def is_native(self) -> bool:
        """Tells whether what is built runs here."""
        return self.machine == os.uname().machine and self.libc == "gnu"

    @property
    def toolchain(self) -> str:
        """The file that tells CMake how to compile for it."""
        return "musllinux.cmake" if self.libc == "musl" else "manylinux.cmake"

    def arguments(self) -> list[str]:
        """CMake's arguments of any build for this platform."""
        units = os.environ.get("UNITS", "ON")
        return [
            *SWITCHES,
            f"-DHOTARU_UNITS={units}",
            f"-DCMAKE_TOOLCHAIN_FILE={HERE / self.toolchain}",
            f"-DHOTARU_MACHINE={self.machine}",
            f"-DHOTARU_LINK_ROOT={self.link_root}",
        ]


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform(*("manylinux-x86_64", "x86_64", "amd64"), "manylinux_2_28_x86_64"),
        Platform(*("manylinux-aarch64", "aarch64", "arm64"), "manylinux_2_28_aarch64"),
        Platform(
            *("musllinux-x86_64", "x86_64", "amd64", "musllinux_1_2_x86_64", "musl")
        ),
    )
}


def native_platform() -> Platform:
    """The platform whose binaries run here."""
    return next(p for p in PLATFORMS.values() if p.is_native)


def run(*command, **options) -> None:
    """Runs a command that must succeed."""
    subprocess.run([str(word) for word in command], check=True, **options)


def cmake(folder: Path, *arguments: str, targets: tuple[str, ...]) -> None:
    """Configures a build folder, and compiles targets of it."""
    run("cmake", "-S", ROOT, "-B", folder, *arguments, stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder, "--parallel", jobs(), "--target", *targets)


def packages(platform: Platform, suite: str) -> Release:
    """A release's packages for this platform, kept beside the builds. Ubuntu's
    mirror has this machine's alone, of which only headers are asked for.
    """
    folder = ROOT / "build-debian"
    folder.mkdir(parents=True, exist_ok=True)
    return Release(suite, "amd64" if suite in UBUNTU else platform.debian, folder)


def gcc_version() -> str:
    """The first number of this machine's GCC."""
    return subprocess.check_output(["g++", "-dumpversion"], text=True).strip()


def make_link_root(platform: Platform) -> None:
    """Makes what the platform's binaries are compiled and linked against."""
    root = platform.link_root
    include = root / "include"
    include.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        relink(include / name, Path("/usr/include") / name)
    if (root / "libz.a").exists():
        return
    if platform.libc == "musl":
        (gcc,) = (
            packages(platform, "bookworm")
            .unpack(f"gcc-{gcc_version()}-source")
            .glob("usr/src/*/gcc-*.tar.xz")
        )
        zlib = packages(platform, "bookworm").source("zlib")
        musl_root.make(platform.machine, root, gcc, zlib)
        return
    compiler = "g++" if platform.is_native else f"{platform.machine}-linux-gnu-g++"
    link_root.make(platform.machine, root, compiler=compiler)
    zlib = packages(platform, "bookworm").unpack("zlib1g-dev")
    (archive,) = zlib.glob("usr/lib/*/libz.a")
    shutil.copyfile(archive, root / "libz.a")


def python_headers(platform: Platform, python: Python) -> Path:
    """The headers of a Python, from Debian's package."""
    name = f"python{python.headers}"
    found = packages(platform, python.suite).unpack(f"lib{name}-dev") / "usr/include"
    headers = found / name
    # In place of the one that asks which machine it is.
    (configured,) = found.glob(f"*-linux-gnu/{name}/pyconfig.h")
    shutil.copyfile(configured, headers / "pyconfig.h")
    return headers


def onnx_texts() -> Path:
    """Packs the texts of ONNX's operators, with nothing of when and by whom."""
    path = ROOT / "build-debian" / "onnx_texts.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for text in sorted((ROOT / "hotaru/exchange/onnx/texts").glob("*.py")):
            entry = zipfile.ZipInfo(f"texts/{text.name}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, text.read_bytes())
    if not path.exists() or path.read_bytes() != packed.getvalue():
        path.write_bytes(packed.getvalue())
    return path


def build_library(platform: Platform) -> Path:
    """Compiles the library and the command; returns the build's folder."""
    make_link_root(platform)
    folder = platform.folder("library")
    cmake(
        *(folder, *platform.arguments(), "-DHOTARU_PYTHON=OFF"),
        f"-DHOTARU_ONNX_TEXTS_FROM={onnx_texts()}",
        targets=("hotaru", "hotaru-cli"),
    )
    return folder


def build_extension(platform: Platform, python: Python) -> Path:
    """Compiles the extension for one Python; returns its path."""
    folder = platform.folder(f"python{python.version}")
    cmake(
        *(folder, *platform.arguments(), "-DHOTARU_CLI=OFF"),
        f"-DHOTARU_FROM={platform.folder('library')}",
        f"-DHOTARU_PYTHON_HEADERS={python_headers(platform, python)}",
        f"-DHOTARU_STABLE_ABI={'ON' if python.is_stable else 'OFF'}",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_ROOT={nanobind_folder()}",
        targets=("_C",),
    )
    (extension,) = (folder / "python").glob("_C*.so")
    return extension


def nanobind_folder() -> str:
    """The folder of nanobind's CMake files."""
    command = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    return subprocess.check_output(command, text=True).strip()
