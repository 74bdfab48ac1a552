"""Kernels that were compiled once are found on disk, whatever happens there."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from own_kernels import ADD, why_no_compiler

import hotaru

PROGRAM = f"""
import sys
import hotaru as torch

kernel = torch.cuda.compile_kernel({ADD!r}, "add", nvcc_options=sys.argv[1:])
x, y = torch.ones(9, device="cuda"), torch.zeros(9, device="cuda")
kernel(1, 9, [x, y, 2.0, 9])
assert y.tolist() == [3.0] * 9
print(*torch._C._cuda_compile_counts())
"""


@pytest.fixture
def folder(tmp_path):
    why_not = why_no_compiler()
    if why_not:
        pytest.skip(why_not)
    return tmp_path / "kernels"


def begin(folder, *options: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *options],
        env=dict(os.environ, HOTARU_CACHE=str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen) -> tuple[int, int]:
    """How many kernels it compiled, and how many it found."""
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    compiled, found = out.split()
    return int(compiled), int(found)


def counts(folder, *options: str) -> tuple[int, int]:
    return end(begin(folder, *options))


def test_a_second_process_compiles_nothing(folder):
    assert counts(folder) == (1, 0)
    [file] = folder.iterdir()
    assert file.suffix == ".kernel"
    assert counts(folder) == (0, 1)
    assert counts(folder, "-DOTHER=1") == (1, 0)  # options count
    assert counts(folder) == (0, 1)


def test_damaged_files_are_replaced(folder):
    counts(folder)
    [file] = folder.iterdir()
    good = file.read_bytes()
    middle = len(good) // 2
    damages = [
        b"",
        good[:-1],
        good + b"\0",
        good[:20],
        good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        b"X" + good[1:],
        good[:16] + b"\xff" * 24 + good[40:],  # lengths of nothing
    ]
    for damaged in damages:
        file.write_bytes(damaged)
        assert counts(folder) == (1, 0)
        assert counts(folder) == (0, 1)


def test_processes_at_once(folder):
    for _ in range(2):
        all_counts = [end(p) for p in [begin(folder) for _ in range(4)]]
        assert all(sum(one) == 1 for one in all_counts)
    assert all_counts == [(0, 1)] * 4
    assert [f.suffix for f in folder.iterdir()] == [".kernel"]


def test_a_folder_that_cannot_be(folder):
    folder.write_text("a file")
    assert counts(folder) == (1, 0)
    assert folder.read_text() == "a file"


@pytest.mark.parametrize("how", ["folder", "option", "text"])
def test_headers_of_the_programs_own_are_read_again(folder, tmp_path, run, how):
    header = f'"{tmp_path}/number.h"' if how == "text" else "<number.h>"
    options = {
        "folder": f"cuda_include_dirs=[{str(tmp_path)!r}]",
        "option": f"nvcc_options=['-I{tmp_path}']",
        "text": "",
    }[how]
    program = f"""
import hotaru as torch
text = '# include {header}\\n'
text += '__global__ void f(int* p) {{ *p = kNumber; }}'
for n in range(2):
    with open({str(tmp_path / "number.h")!r}, "w") as file:
        print(f"constexpr int kNumber = {{n}};", file=file)
    k = torch.cuda.compile_kernel(text, "f", {options})
    x = torch.full((1,), 9, dtype=torch.int32, device="cuda")
    k(args=[x])
    print(x.item(), *torch._C._cuda_compile_counts())
"""
    assert run(program, HOTARU_CACHE=str(folder)) == "0 1 0\n1 2 0\n"


def test_threads_at_once(folder, monkeypatch):
    monkeypatch.setenv("HOTARU_CACHE", str(folder))
    text = ADD.replace("add", "asked_at_once")
    before = hotaru._C._cuda_compile_counts()
    with ThreadPoolExecutor(4) as pool:
        kernels = [
            pool.submit(hotaru.cuda.compile_kernel, text, "asked_at_once")
            for _ in range(4)
        ]
    x, y = hotaru.ones(2, 9, device="cuda")
    for kernel in kernels:
        kernel.result()(1, 9, [y if kernel is kernels[0] else x, x, 1.0, 9])
    assert x.tolist() == [5.0] * 9
    after = hotaru._C._cuda_compile_counts()
    assert (after[0] - before[0], after[1] - before[1]) == (1, 0)


def test_one_program_for_all_who_ask(folder, monkeypatch):
    monkeypatch.setenv("HOTARU_CACHE", str(folder))
    text = ADD.replace("add", "asked_often")
    before = hotaru._C._cuda_compile_counts()
    for _ in range(5):
        hotaru.cuda.compile_kernel(text, "asked_often")
    after = hotaru._C._cuda_compile_counts()
    assert (after[0] - before[0], after[1] - before[1]) == (1, 0)
