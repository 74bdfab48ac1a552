"""Fixtures of the Python tests.

`HOTARU_OVER_TORCH=1` runs the Python part of the package over PyTorch's
operators (see torch_shim.py) instead of the native extension.
`HOTARU_TEST_QUEUED=1` runs every test on a queued stream of its own: what holds
for the default stream holds there.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Modules that tests of several folders share are imported by name alone.
_SEEDS = HERE / "programs" / "seeds"  # programs, of which none is imported
_FOLDERS = {p.parent for p in HERE.rglob("*.py") if _SEEDS not in p.parents}
sys.path[:0] = sorted(map(str, _FOLDERS))

if os.environ.get("HOTARU_OVER_TORCH") == "1":
    import torch_shim

    torch_shim.install()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Notes the processor seconds of each test, its child processes' too."""
    before = os.times()
    yield
    spent = sum(os.times()[:4]) - sum(before[:4])
    item.user_properties.append(("processor_seconds", f"{spent:.2f}"))


@pytest.fixture(scope="session", autouse=True)
def processes_that_fork():
    """Datasets of tests are functions, which Python's own way to start processes
    does not carry from 3.14 on; tests of other ways name them.
    """
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture(scope="session", autouse=True)
def same_numbers_each_time():
    """Fixes draws of tests without a seed: they are the same in each run."""
    import hotaru

    hotaru.default_generator.manual_seed(67280421310721)


@pytest.fixture(scope="session")
def hotaru():
    """The package under test."""
    import hotaru

    return hotaru


@pytest.fixture(scope="session")
def oracle():
    """PyTorch, for tests that compare with it; skips where it is missing."""
    return pytest.importorskip(
        "torch", reason="PyTorch, the oracle of this test, is not installed here"
    )


if os.environ.get("HOTARU_TEST_QUEUED") == "1":

    @pytest.fixture(autouse=True)
    def queued_stream():
        """The test's operators go to a queued stream."""
        import hotaru

        stream = hotaru.cpu.Stream()
        with hotaru.cpu.stream(stream):
            yield
        # Errors that a test looked at are kept by the stream.
        with contextlib.suppress(Exception):
            stream.synchronize()
