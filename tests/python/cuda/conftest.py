"""Tests of CUDA run where a device is: `HOTARU_CUDA_DRIVER=soft` makes one in
software, `soft:2` two. Files named here run on every machine.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from nearness import assert_near
from own_kernels import why_no_compiler

import hotaru

ANYWHERE = {"test_no_driver.py", "test_nvrtc.py"}


def pytest_collection_modifyitems(items) -> None:
    here = os.path.dirname(__file__)
    for item in items:
        if not str(item.path).startswith(here):
            continue
        if item.path.name not in ANYWHERE and not hotaru.cuda.is_available():
            item.add_marker(
                pytest.mark.skip(
                    reason="no CUDA device; HOTARU_CUDA_DRIVER=soft makes one"
                )
            )
        elif "two_devices" in item.fixturenames and (hotaru.cuda.device_count() < 2):
            item.add_marker(
                pytest.mark.skip(
                    reason="one CUDA device; HOTARU_CUDA_DRIVER=soft:2 makes two"
                )
            )


@pytest.fixture
def two_devices() -> None:
    """Skips a test where there is only one device."""


@pytest.fixture
def cuda():
    """The first CUDA device: of a GPU, or in software."""
    return hotaru.device("cuda:0")


@pytest.fixture(autouse=True)
def whole_floats():
    """Floats are multiplied as they are: cuDNN's default is TF32."""
    before = hotaru.backends.cudnn.allow_tf32
    hotaru.backends.cudnn.allow_tf32 = False
    yield
    hotaru.backends.cudnn.allow_tf32 = before


@pytest.fixture(autouse=True)
def first_device():
    """Each test begins, and leaves the process, with device 0 and its default
    stream.
    """
    yield
    if hotaru.cuda.is_available():
        for index in range(hotaru.cuda.device_count()):
            hotaru.cuda.set_stream(hotaru.cuda.default_stream(index))
        hotaru.cuda.set_device(0)


@pytest.fixture
def deterministic():
    """Deterministic algorithms are required; afterwards all is as before."""
    hotaru.use_deterministic_algorithms(True)
    yield
    hotaru.use_deterministic_algorithms(False)
    hotaru.utils.deterministic.fill_uninitialized_memory = True


@pytest.fixture
def run():
    """Runs a program in a process of its own; returns what it printed."""

    def run_program(program: str, **variables: str) -> str:
        # A program that hangs fails its test.
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_program


@pytest.fixture
def near(hotaru, cuda):
    """Compares f and its gradients of tensors that begin alike.

    Those that are not floating take part, but have no gradient.
    """
    t = hotaru

    def run(f, *tensors, gradients=True, **sizes):
        results = []
        for device in (t.device("cpu"), cuda):
            given = []
            for x in tensors:
                x = x.detach().to(device) if x is not None else None
                wants = x is not None and x.is_floating_point() and gradients
                given.append(x.requires_grad_() if wants else x)
            out = f(*given)
            out = list(out) if isinstance(out, (list, tuple)) else [out]
            leaves = [x for x in given if x is not None and x.requires_grad]
            roots = [y for y in out if y.requires_grad]
            if gradients:
                t.manual_seed(3)
                grads = [t.randn(y.shape).to(y.dtype) for y in roots]
                grads = [g.to(device) for g in grads]
                out += t.autograd.grad(roots, leaves, grads)
            results.append(out)
        assert len(results[0]) == len(results[1])
        for want, got in zip(*results):
            assert_near(t, got, want, **sizes)

    return run


@pytest.fixture
def compiler():
    """Skips where no kernel can be compiled at run time."""
    why_not = why_no_compiler()
    if why_not:
        pytest.skip(why_not)
