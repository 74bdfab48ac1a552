"""Tracing in one thread while others run programs, or trace, too."""

from __future__ import annotations

import threading

from hotaru.fx._symbolic_trace import is_fx_tracing

import hotaru as torch
from hotaru import fx, nn


class Meets(nn.Module):
    """Lets another thread work in the middle of its trace."""

    def __init__(self, work) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(2, 2), nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2))
        self._work = work

    def forward(self, x):
        x = self.first(x)
        if is_fx_tracing():
            _in_thread(self._work)
        return self.last(x) * self.weight


def _in_thread(work) -> None:
    raised = []

    def run():
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def _nodes(traced) -> list:
    return [(node.op, str(node.target)) for node in traced.graph.nodes]


WANTED = [
    ("placeholder", "x"),
    ("call_module", "first"),
    ("call_module", "last"),
    ("get_attr", "weight"),
    ("call_function", "<built-in function mul>"),
    ("output", "output"),
]


def test_modules_of_other_threads_just_run():
    other = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    x, seen = torch.ones(1, 2), []

    def work():
        seen.append((is_fx_tracing(), type(other(x)), other[0].weight))

    traced = fx.symbolic_trace(Meets(work))
    assert seen == [(False, torch.Tensor, other[0].weight)]
    assert isinstance(seen[0][2], nn.Parameter)
    assert _nodes(traced) == WANTED


def test_traces_at_the_same_time_are_each_their_own():
    call, getattr_ = nn.Module.__call__, nn.Module.__getattr__
    models = [Meets(lambda: None) for _ in range(6)]
    traced = [None] * len(models)
    ready = threading.Barrier(len(models))

    def trace(i):
        ready.wait()
        for _ in range(5):
            traced[i] = fx.symbolic_trace(models[i])

    threads = [threading.Thread(target=trace, args=(i,)) for i in range(len(models))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [_nodes(one) for one in traced] == [WANTED] * len(models)
    # The exchanged names are back, and nothing thinks that it is traced.
    assert nn.Module.__call__ is call
    assert nn.Module.__getattr__ is getattr_
    assert not is_fx_tracing()


def test_a_trace_inside_of_a_trace():
    inner = []

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 2)

        def forward(self, x):
            inner.append(fx.symbolic_trace(Meets(lambda: None)))
            return self.first(x)

    traced = fx.symbolic_trace(Outer())
    assert _nodes(inner[0]) == WANTED
    assert [op for op, _ in _nodes(traced)] == ["placeholder", "call_module", "output"]
