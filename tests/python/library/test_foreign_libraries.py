"""Libraries built against PyTorch meet hotaru, and the other way round."""

import subprocess
import sys

import pytest
from hotaru.utils import cpp_extension

import hotaru as torch


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Something that the loader takes for PyTorch's libtorch_cpu.so."""
    return _library(tmp_path_factory.mktemp("theirs"), "libtorch_cpu.so")


def _library(folder, name, *links):
    source = folder / f"{name}.cpp"
    source.write_text('extern "C" int answer() { return 3; }\n')
    path = folder / name
    subprocess.run(
        [
            "c++",
            "-shared",
            "-fPIC",
            "-Wl,--no-as-needed",
            source,
            "-o",
            path,
            f"-Wl,-soname,{name}",
            *links,
        ],
        check=True,
    )
    return path


def test_pytorchs_do_not_even_enter_the_process(theirs):
    links = [f"-L{theirs.parent}", f"-Wl,-rpath,{theirs.parent}", "-ltorch_cpu"]
    path = _library(theirs.parent, "operators.so", *links)
    with pytest.raises(OSError, match=r"own libraries \(libtorch_cpu\.so\)"):
        torch.ops.load_library(path)
    with open("/proc/self/maps") as maps:
        assert str(theirs) not in maps.read()


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """A library that was built against hotaru."""
    links = []
    for folder in cpp_extension.library_paths():
        links += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    folder = tmp_path_factory.mktemp("ours")
    return _library(folder, "ours.so", *links, "-lhotaru_torch", "-lhotaru")


LOADS = """
import ctypes, sys
{first}
ctypes.CDLL(sys.argv[1])
ctypes.CDLL(sys.argv[2])
print("loaded")
"""


def _loaded(first: str, *paths) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOADS.format(first=first), *paths],
        capture_output=True,
        text=True,
    )
    return done.stdout or done.stderr


def test_ours_in_a_process_of_pytorchs(theirs, ours):
    text = _loaded("", theirs, ours)
    assert "RuntimeError: a library that was loaded was built against" in text
    assert _loaded("import hotaru", theirs, ours) == "loaded\n"
    assert _loaded("", ours, ours) == "loaded\n"


def test_what_is_no_library(tmp_path):
    for content in (b"", b"text", b"\x7fELF\x02\x01" + b"\xff" * 90):
        path = tmp_path / "damaged.so"
        path.write_bytes(content)
        with pytest.raises(OSError, match=r"Could not load .*damaged\.so$"):
            torch.ops.load_library(path)
