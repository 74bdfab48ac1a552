"""`HOTARU_TEST_GRAPHS_ON=cuda` runs the tests of graphs on a CUDA device: its
names stand where the CPU's are called, and tensors are made there.
"""

from __future__ import annotations

import os

import pytest

import hotaru

DEVICE = os.environ.get("HOTARU_TEST_GRAPHS_ON", "cpu")

NAMES = {
    "Graph": "CUDAGraph",
    "Stream": "Stream",
    "Event": "Event",
    "current_stream": "current_stream",
    "graph": "graph",
    "is_current_stream_capturing": "is_current_stream_capturing",
    "make_graphed_callables": "make_graphed_callables",
    "stream": "stream",
    "synchronize": "synchronize",
}


def pytest_collection_modifyitems(items) -> None:
    for item in items:
        marker = item.get_closest_marker("cpu_graphs")
        if DEVICE != "cpu" and marker:
            reason = f"graphs of the CPU: {marker.args[0]}"
            item.add_marker(pytest.mark.skip(reason=reason))


if DEVICE != "cpu":
    # Before the tests' modules make tensors of their own.
    hotaru.set_default_device(DEVICE)

    @pytest.fixture(autouse=True)
    def on_device(monkeypatch):
        """The CPU's names are the device's."""
        for name, there in NAMES.items():
            monkeypatch.setattr(hotaru.cpu, name, getattr(hotaru.cuda, there))
