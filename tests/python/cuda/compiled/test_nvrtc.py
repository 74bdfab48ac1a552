"""Results of NVIDIA's own compiler for source texts. It needs no GPU: these
tests run where NVRTC is found, or its folder is in `HOTARU_TEST_NVRTC`.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TEMPLATE = """
template <class T> __global__ void saxpy(const T* x, T* y, T a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


def ran(program: str) -> str:
    """Runs a program in a process without the GPU in software."""
    done = subprocess.run(
        [sys.executable, "-c", "import hotaru as torch\n" + program],
        env=dict(
            os.environ,
            HOTARU_CUDA_DRIVER="",
            HOTARU_CUDA_LIBRARIES=os.environ.get("HOTARU_TEST_NVRTC", ""),
        ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def nvrtc():
    if os.environ.get("HOTARU_CUDA_LIBRARIES") == "soft":
        pytest.skip("stand-ins take the libraries' places")
    program = """
try:
    print(torch._C._cuda_libraries("NVRTC")[0]["why_not"])
except Exception as e:
    print(e)
"""
    why_not = ran(program).strip()
    if why_not:
        pytest.skip(f"no NVRTC: {why_not}")


def image(text: str, name: str, architecture: str) -> tuple[bytes, str]:
    out = ran(
        f"code, symbol = torch._C._cuda_compile_image({text!r}, {name!r}, "
        f"{architecture!r}, [], [])\nprint(code[:4].hex(), len(code), symbol)"
    )
    start, size, symbol = out.split()
    assert int(size) > 500
    return bytes.fromhex(start), symbol


def test_machine_code(capsys):
    got = image(TEMPLATE, "saxpy<float>", "90")
    assert got == (b"\x7fELF", "_Z5saxpyIfEvPKT_PS0_S0_i")
    extern = 'extern "C" __global__ void f(int* p) { *p = 1; }'
    assert image(extern, "f", "90a") == (b"\x7fELF", "f")


def test_newer_devices_get_ptx():
    assert image(TEMPLATE, "saxpy<float>", "990")[0] == b"//\n/"


def failure(text: str, name: str, architecture: str = "90") -> str:
    return ran(f"""
try:
    torch._C._cuda_compile_image({text!r}, {name!r}, {architecture!r}, [], [])
except (RuntimeError, ValueError) as e:
    print(e)
""")


def test_errors():
    text = "__global__ void f(int* p) {\n\n  p[0] = nothing_here;\n}"
    assert 'f.cu(3): error: identifier "nothing_here"' in failure(text, "f")
    assert "functions here: f" in failure(text.replace("nothing_here", "1"), "g")
    assert "functions here: none" in failure("__device__ void f() {}", "f")
    assert "no device as old as sm_10" in failure(text, "f", "10")
    assert 'must be a number like "90"' in failure(text, "f", "sm_90")
