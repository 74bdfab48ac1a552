"""Makes the wheels: `./dev wheel` calls it in an environment of its own.

The pattern is the wheel that pip makes of pyproject.toml for this machine and the
first Python. Those for other Pythons and platforms are the same files with their
own binaries. Each is checked by auditwheel, and written so that the same sources
give the same bytes.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version as installed
from pathlib import Path

import bill_of_materials
from platforms import (
    PLATFORMS,
    PYTHONS,
    ROOT,
    Platform,
    Python,
    build_extension,
    build_library,
    nanobind_folder,
    native_platform,
    run,
)
from wheel_file import WheelFile

LIBRARY = "hotaru/libhotaru.so.0"
COMMAND = "hotaru/bin/hotaru"


def source_date() -> int:
    """The date that files of the wheels have: that of the last commit."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return int(subprocess.check_output(command, text=True))


def pattern_wheel(library: Path) -> WheelFile:
    """The wheel that pip makes, whose extension loads this library."""
    arguments = [
        *native_platform().arguments(),
        *("-DHOTARU_CLI=OFF", f"-DHOTARU_FROM={library}"),
        f"-Dnanobind_ROOT={nanobind_folder()}",
    ]
    # The back end gives these itself.
    own = ("-G", "Ninja", "-DSKBUILD=ON", "-DSKBUILD_SCRIPTS_DIR=bin")
    settings = [f"-Ccmake.args={a}" for a in arguments if a not in own]
    with tempfile.TemporaryDirectory() as folder:
        run(
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--disable-pip-version-check"),
            f"-Cbuild-dir={ROOT / 'build-wheel'}",
            *("-Cinstall.strip=false", *settings, "-w", folder, ROOT),
            env={
                **os.environ,
                "LD_LIBRARY_PATH": str(library / "hotaru"),
                "CMAKE_GENERATOR": "Ninja",  # in the same folder the next time, too
            },
        )
        (made,) = Path(folder).glob("*.whl")
        return WheelFile.read(made)


def finished(pattern: WheelFile, platform: Platform, python: Python) -> WheelFile:
    """The pattern with the binaries of a platform and a Python."""
    wheel = WheelFile(dict(pattern.files), set(pattern.executable))
    extension = build_extension(platform, python)
    wheel.remove("hotaru/_C*.so")
    name = python.extension(platform)
    wheel.add(name, extension.read_bytes(), executable=True)
    built = platform.folder("library")
    library = (built / "hotaru/libhotaru.so.0").read_bytes()
    wheel.add(LIBRARY, library, executable=True)
    wheel.add(COMMAND, (built / "cli/hotaru").read_bytes(), executable=True)
    launcher = (ROOT / "cmake/wheel_command.sh").read_bytes()
    wheel.add(f"{wheel.scripts}/hotaru", launcher, executable=True)
    wheel.set_tags(*python.tags, platform.tag)
    add_parts(wheel, platform, (name, LIBRARY, COMMAND))
    return wheel


def add_parts(wheel: WheelFile, platform: Platform, binaries: tuple[str, ...]) -> None:
    """Puts the list of parts in, and their licences."""
    nanobind = Path(nanobind_folder()).parent
    versions = {
        "nanobind": installed("nanobind"),
        "robin-map": bill_of_materials.robin_map_version(nanobind),
    }
    own = wheel.dist_info.split("-")[1].removesuffix(".dist-info")
    wheel.add(
        f"{wheel.dist_info}/sboms/hotaru.cdx.json",
        bill_of_materials.sbom(
            own, platform.libc, versions, {b: wheel.files[b] for b in binaries}
        ),
    )
    path = f"{wheel.dist_info}/METADATA"
    metadata = wheel.files[path].decode()
    listed = ""
    for name, text in bill_of_materials.licences(nanobind).items():
        wheel.add(f"{wheel.dist_info}/licenses/third_party/{name}", text)
        listed += f"License-File: third_party/{name}\n"
    head, separator, body = metadata.partition("\n\n")
    wheel.files[path] = (head + "\n" + listed.rstrip("\n") + separator + body).encode()


def check_stable_abi(path: Path) -> None:
    """Ends the program unless abi3audit finds nothing beyond the stable ABI."""
    command = [sys.executable, "-m", "abi3audit", "--strict", "--summary", path]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(f"{path.name} is not abi3:\n{said.stdout}{said.stderr}")


def check(path: Path, platform: Platform) -> None:
    """Ends the program unless auditwheel agrees with the wheel's tag."""
    said = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", path],
        capture_output=True,
        text=True,
    )
    text = " ".join(said.stdout.split())
    found = re.search(r'consistent with the following platform tag: "([^"]+)"', text)
    if not found or not is_as_old(found[1], platform.tag):
        raise SystemExit(
            f"{path.name} is not {platform.tag}:\n{said.stdout}{said.stderr}"
        )


def is_as_old(found: str, promised: str) -> bool:
    """Tells whether a tag asks for no newer a system than another one."""
    number = re.compile(r"(\w+?linux)_(\d+)_(\d+)_(\w+)")
    a, b = number.fullmatch(found), number.fullmatch(promised)
    return bool(
        a
        and b
        and (a[1], a[4]) == (b[1], b[4])
        and (int(a[2]), int(a[3])) <= (int(b[2]), int(b[3]))
    )


def make(platform: Platform, pythons: list[str], pattern: WheelFile, out: Path):
    """Yields the wheels of a platform, each after it was checked."""
    for version in pythons:
        python = PYTHONS[version]
        wheel = finished(pattern, platform, python)
        path = wheel.write(out, source_date())
        check(path, platform)
        if python.is_stable:
            check_stable_abi(path)
        yield path


def main() -> None:
    """Makes the wheels that the command line names, into dist/."""
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "platform", nargs="*", help=f"of {', '.join(PLATFORMS)} (all of them)"
    )
    parser.add_argument(
        "--python",
        action="append",
        choices=PYTHONS,
        help="(all of them); 3.12's serves later ones, too",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    for name in arguments.platform:
        if name not in PLATFORMS:
            parser.error(f"no platform {name}: there are {', '.join(PLATFORMS)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    native = native_platform()
    pattern = pattern_wheel(build_library(native))
    start = time.monotonic()
    for name in arguments.platform or PLATFORMS:
        platform = PLATFORMS[name]
        if platform is not native:
            build_library(platform)
        for path in make(
            platform, arguments.python or list(PYTHONS), pattern, arguments.out
        ):
            size = path.stat().st_size / 1e6
            print(f"{os.path.relpath(path)}  {size:.1f} MB", flush=True)
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
