"""Backends of PyTorch's tests, which count and keep graphs."""

from __future__ import annotations

import pytest
from hotaru._dynamo import exc, reset_code_caches
from hotaru._dynamo.backends.registry import lookup_backend
from hotaru._dynamo.testing import (
    CompileCounter,
    CompileCounterWithBackend,
    EagerAndRecordGraphs,
)

import hotaru as torch


def _graph():
    return torch.fx.symbolic_trace(lambda x: torch.relu(x).sin() + 1)


def test_counters_count_graphs_and_their_calls():
    x = torch.tensor([-1.0, 2.0])
    for counter in (CompileCounter(), CompileCounterWithBackend("graphs")):
        for _ in range(2):
            run = counter(_graph(), [x])
            torch.testing.assert_close(run(x), x.relu().sin() + 1)
        assert (counter.frame_count, counter.op_count) == (2, 6)
        counter.clear()
        assert (counter.frame_count, counter.op_count) == (0, 0)


def test_graphs_are_kept_until_they_are_dropped():
    graph, keeper = _graph(), EagerAndRecordGraphs()
    assert keeper(graph, []) == graph.forward
    counter = CompileCounterWithBackend("eager")
    assert counter(graph, []) == graph.forward
    assert keeper.graphs == counter.graphs == [graph]
    counter.clear()
    assert counter.graphs == []


def test_backends_are_looked_up_by_name():
    assert lookup_backend(len) is len
    with pytest.raises(exc.InvalidBackend, match="no such"):
        lookup_backend("no such")


def test_forgotten_graphs_leave_the_stance():
    calls = []
    compiled = torch.compile(lambda x: calls.append(1) or x + 1)
    x = torch.ones(2)
    for _ in range(3):
        compiled(x)
    before = len(calls)
    with torch.compiler.set_stance("force_eager"):
        reset_code_caches()
        compiled(x)
        assert len(calls) == before + 1
    compiled(x)
    assert len(calls) > before + 1
