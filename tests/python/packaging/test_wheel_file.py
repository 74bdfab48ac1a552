"""Promises of packaging/ about wheels and releases, on files of a few bytes."""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[3] / "packaging"
sys.path[:0] = [str(PACKAGING), str(PACKAGING / "wheel")]

import bill_of_materials  # noqa: E402
import release  # noqa: E402
from wheel_file import WheelFile  # noqa: E402


def small_wheel() -> WheelFile:
    """A package of one module and one command."""
    wheel = WheelFile()
    wheel.add("thing-1.0.dist-info/WHEEL", b"Wheel-Version: 1.0\nTag: py3-none-any\n")
    wheel.add("thing-1.0.dist-info/METADATA", b"Name: thing\nVersion: 1.0\n\n")
    wheel.add("thing/__init__.py", b"one = 1\n")
    wheel.add("thing-1.0.data/scripts/thing", b"#!/bin/sh\n", executable=True)
    return wheel


def test_the_same_files_give_the_same_bytes(tmp_path):
    """In any order of adding; another date gives other bytes."""
    wheel = small_wheel()
    turned = WheelFile(dict(reversed(wheel.files.items())), wheel.executable)
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    for folder in (one, two, other):
        folder.mkdir()
    first = wheel.write(one, 1_700_000_000).read_bytes()
    assert turned.write(two, 1_700_000_000).read_bytes() == first
    assert wheel.write(other, 1_600_000_000).read_bytes() != first


def test_tags_name_the_file_and_its_record(tmp_path):
    wheel = small_wheel()
    wheel.set_tags("cp311", "cp311", "manylinux_2_28_x86_64")
    path = wheel.write(tmp_path)
    assert path.name == "thing-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path) as archive:
        said = archive.read("thing-1.0.dist-info/WHEEL").decode()
        rows = archive.read("thing-1.0.dist-info/RECORD").decode().splitlines()
        names = archive.namelist()
        mode = archive.getinfo("thing-1.0.data/scripts/thing").external_attr >> 16
    assert said.splitlines()[-1] == "Tag: cp311-cp311-manylinux_2_28_x86_64"
    assert said.count("Tag:") == 1
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"one = 1\n").digest())
    assert f"thing/__init__.py,sha256={digest.rstrip(b'=').decode()},8" in rows
    assert {row.split(",")[0] for row in rows} == set(names)
    assert mode & 0o111
    assert names[-1].endswith("RECORD")  # metadata last, as PEP 427 advises


def test_reading_gives_what_was_written(tmp_path):
    wheel = small_wheel()
    read = WheelFile.read(wheel.write(tmp_path))
    assert (read.files, read.executable) == (wheel.files, wheel.executable)
    read.remove("thing/*.py")
    assert "thing/__init__.py" not in read.files


@pytest.mark.parametrize("libc", ["gnu", "musl"])
def test_the_bill_lists_each_part_once(libc):
    """Each has a licence; a wheel for musl holds GCC's C++ library whole."""
    parts = bill_of_materials.parts_of(libc)
    assert len({part.name for part in parts}) == len(parts)
    assert all(part.licence and part.of for part in parts)
    (library,) = (part for part in parts if part.name == "libstdc++")
    assert ("linked statically" in library.of) == (libc == "musl")


@pytest.mark.parametrize(
    ("version", "last", "may"),
    [
        ("0.1.0", None, True),
        ("0.1.1", "0.1.0", True),
        ("0.2.0", "0.1.9", True),
        ("1.0.0", "0.9.3", True),
        ("0.1.0", "0.1.0", False),
        ("0.1.2", "0.1.0", False),
        ("0.2.1", "0.1.0", False),
        ("2.0.0", "0.1.0", False),
    ],
)
def test_versions_follow_the_last_one(version, last, may):
    assert release.follows(version, last) is may


def test_what_is_no_version_is_refused():
    with pytest.raises(SystemExit, match=r"'0\.3\.x' is no version: three numbers"):
        release.numbers("0.3.x")


def test_the_version_stands_where_a_release_writes_it():
    """Each place has the version that CHANGELOG.md's newest section has."""
    changes = (PACKAGING.parent / "CHANGELOG.md").read_text()
    newest = re.search(r"(?m)^## (\d+\.\d+\.\d+)", changes)[1]
    for name, pattern in release.PLACES.items():
        found = re.search(pattern, (PACKAGING.parent / name).read_text())
        assert found[0] == found[1] + newest, name
