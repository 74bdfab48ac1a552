"""torch.ops.load_library."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

import hotaru


def test_loads_and_remembers(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler (cc) to make a library with")
    mark, path = tmp_path / "mark", tmp_path / "library.so"
    source = tmp_path / "library.c"
    source.write_text(
        "#include <stdio.h>\n"
        "__attribute__((constructor)) static void mark(void) {\n"
        f'  fclose(fopen("{mark}", "w"));\n}}\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    link = tmp_path / "link.so"
    link.symlink_to(path)
    assert hotaru.ops.load_library(link) is None
    assert mark.exists()
    assert os.path.realpath(path) in hotaru.ops.loaded_libraries


@pytest.mark.parametrize("name", ["absent.so", "text.so"])
def test_what_is_no_library(tmp_path, name):
    (tmp_path / "text.so").write_text("text")
    path = os.path.realpath(tmp_path / name)
    with pytest.raises(OSError, match="Could not load") as caught:
        hotaru.ops.load_library(path)
    assert str(caught.value) == f"Could not load this library: {path}"
    assert caught.value.__cause__ is not None
    assert path not in hotaru.ops.loaded_libraries


def test_what_is_no_path():
    with pytest.raises(TypeError, match=r"expected str, bytes or os\.PathLike"):
        hotaru.ops.load_library(3)
