"""Programs that run with stand-ins in the places of NVIDIA's libraries."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import hotaru

_PRELUDE = """
import ctypes
import hotaru as torch

torch.zeros(1, device="cuda")
[report] = torch._C._cuda_libraries({name!r})
library = ctypes.CDLL(report["path"])
calls = library.hotaru_softgpu_library_calls
calls.restype = ctypes.c_long


def counted(f):
    before = calls()
    result = f()
    torch.cuda.synchronize()
    return result, calls() - before
"""


def run_program(name: str, program: str) -> subprocess.CompletedProcess:
    """Runs it where `library` is the stand-in of that name, `calls()` counts
    what it was asked for, and `counted(f)` gives f() and how often that was.
    """
    if not hotaru._C._cuda_in_software():
        pytest.skip("a GPU: stand-ins compute in the GPU in software only")
    return subprocess.run(
        [sys.executable, "-c", _PRELUDE.format(name=name) + program],
        env=dict(os.environ, HOTARU_CUDA_LIBRARIES="soft"),
        capture_output=True,
        text=True,
        timeout=500,
    )


def check_program(name: str, program: str) -> None:
    """The same; it must not fail."""
    ran = run_program(name, program + "\nprint('good')")
    assert ran.stdout == "good\n", ran.stderr


def passes_with(name: str, prelude: str):
    """A fixture that runs a program behind a prelude; it must not fail."""

    @pytest.fixture
    def passes(cuda):
        return lambda program: check_program(name, prelude + program)

    return passes
