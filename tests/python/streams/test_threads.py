"""Thread counts, their environment and `__config__`, in PyTorch's words.

Expected texts are PyTorch 2.13's. What is set once for a process is tested in
processes of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import hotaru

ONCE = (
    "Error: cannot set number of interop threads after parallel work has "
    "started or set_num_interop_threads called"
)
BACKENDS = ("native", "openmp", "tbb")


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs code with `import hotaru as torch` and only these variables set."""
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.endswith("_NUM_THREADS") and k != "HOTARU_THREADING"
    }
    return subprocess.run(
        [sys.executable, "-c", "import hotaru as torch\n" + code],
        env={**env, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def printed(code: str, **environment: str) -> str:
    result = python(code, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture(autouse=True)
def _keep_count():
    count = hotaru.get_num_threads()
    yield
    hotaru.set_num_threads(count)


@pytest.mark.parametrize("name", ["set_num_threads", "set_num_interop_threads"])
@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0, RuntimeError, "{} expects a positive integer"),
        (-1, RuntimeError, "{} expects a positive integer"),
        (True, RuntimeError, "{} expects an int, but got bool"),
        (1.0, RuntimeError, "{} expects an int, but got float"),
        ("2", RuntimeError, "{} expects an int, but got str"),
        (None, RuntimeError, "{} expects an int, but got NoneType"),
        (2**31, ValueError, "Overflow when unpacking long"),
        (2**70, ValueError, "Overflow when unpacking long long"),
    ],
)
def test_counts_that_are_none(name, value, error, text):
    with pytest.raises(error) as raised:
        getattr(hotaru, name)(value)
    assert type(raised.value) is error
    assert str(raised.value) == text.format(name)


def test_numpys_integers_are_counts():
    before = hotaru.get_num_threads()
    hotaru.set_num_threads(np.int16(2))
    assert hotaru.get_num_threads() == 2
    hotaru.set_num_threads(before)


def test_set_num_threads_counts():
    hotaru.set_num_threads(7)
    assert hotaru.get_num_threads() == 7


def test_interop_threads_are_set_once():
    code = f"""
torch.get_num_interop_threads()  # asking is allowed before
torch.set_num_interop_threads(3)
assert torch.get_num_interop_threads() == 3
try:
    torch.set_num_interop_threads(4)
except RuntimeError as error:
    assert str(error) == {ONCE!r}, error
else:
    raise AssertionError("no error")
assert torch.get_num_interop_threads() == 3
torch.set_num_interop_threads(4, force=True)
print(torch.get_num_interop_threads())
"""
    assert printed(code) == "4"


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"MKL_NUM_THREADS": "5"}, 5),
        ({"MKL_NUM_THREADS": "5", "OMP_NUM_THREADS": "3"}, 5),
        ({"OMP_NUM_THREADS": "4,2"}, 4),
    ],
)
def test_precedence_of_the_environment(environment, count):
    code = "print(torch.get_num_threads()); torch.set_num_threads(9)"
    code += "; print(torch.get_num_threads())"
    assert printed(code, **environment) == f"{count}\n9"


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
@pytest.mark.parametrize("value", ["abc", "0", "-2", "1.5", ""])
def test_invalid_environment_warns(name, value):
    result = python("print(torch.get_num_threads())", **{name: value})
    assert result.returncode == 0
    assert result.stdout == printed("print(torch.get_num_threads())") + "\n"
    assert f"UserWarning: Invalid {name} variable value, '{value}'" in result.stderr


def test_affinity_limits_the_default():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code += "; print(torch.get_num_threads(), torch.get_num_interop_threads())"
    assert printed(code) == "1 1"


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_do_not_depend_on_the_back_end(backend):
    built = printed("print(torch.__config__.parallel_info())").split("built: ")[1]
    if backend not in built.split(")")[0]:
        pytest.skip(f"{backend} is not part of this build")
    code = """
torch.manual_seed(0)
x = torch.randn(300, 1000)
print(x.sum().item(), (x @ x.t()).sum().item(), torch.exp(x).mean().item())
info = torch.__config__.parallel_info().splitlines()
print([line for line in info if 'backend' in line])
"""
    here = {"OMP_NUM_THREADS": "3"}
    first, second = printed(code, HOTARU_THREADING=backend, **here).splitlines()
    assert first == printed(code, **here).splitlines()[0]
    label = {
        "native": "native thread pool",
        "openmp": "OpenMP",
        "tbb": "native thread pool and TBB",
    }
    assert second == f"['ATen parallel backend: {label[backend]}']"


def test_unknown_back_end_is_an_error_of_the_import():
    result = python("", HOTARU_THREADING="qthreads")
    assert result.returncode == 1
    assert (
        "ImportError: HOTARU_THREADING: unknown threading back end 'qthreads'; "
        "known are native, openmp, tbb" in result.stderr
    )


def test_seed_002_parallel_info():
    """The lines that seed 002 shows, with hotaru's facts in them."""
    code = "print(torch.__config__.parallel_info())"
    lines = printed(code, OMP_NUM_THREADS="1").splitlines()
    expected = [
        "ATen/Parallel:",
        "\tat::get_num_threads() : 1",
        "\tat::get_num_interop_threads() : ",
        "OpenMP ",
        "MKL not found",
        "MKLDNN not found",
        "std::thread::hardware_concurrency() : ",
        "Environment variables:",
        "\tOMP_NUM_THREADS : 1",
        "\tMKL_NUM_THREADS : [not set]",
        "ATen parallel backend: ",
        "hotaru:",
    ]
    for line, start in zip(lines, expected):
        assert line.startswith(start), lines


def test_seed_004_counts():
    """Setters over variables, MKL's over OpenMP's; interop once; cores."""
    code = """
print(torch.get_num_threads())
torch.set_num_threads(2)
torch.set_num_interop_threads(2)
print(torch.get_num_threads(), torch.get_num_interop_threads())
x = torch.ones(4, 4)
def compute_z(x):
    return torch.mm(x, x)
future = torch.jit._fork(compute_z, x)
y = torch.mm(x, x)
print((y + torch.jit._wait(future)).sum().item())
print('at::get_num_threads() : 2' in torch.__config__.parallel_info())
"""
    out = printed(code, MKL_NUM_THREADS="4", OMP_NUM_THREADS="3")
    assert out.splitlines() == ["4", "2 2", "128.0", "True"]


def test_show_lists_the_build():
    text = hotaru.__config__.show()
    lines = text.splitlines()
    assert lines[0] == "hotaru built with:"
    assert all(line.startswith("  - ") for line in lines[1:])
    assert "  - MKL not found" in lines
    assert any(line.startswith("  - CPU capability usage: ") for line in lines)
    assert "BUILD_TYPE=" in lines[-1]
    assert "USE_CUDA=0" in lines[-1]
    assert hotaru.__config__._cxx_flags() in text
