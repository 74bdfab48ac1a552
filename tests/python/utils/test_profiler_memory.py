"""Nodes of backward passes and memory in profiles, beside PyTorch 2.13's."""

from __future__ import annotations

import json
import threading

import pytest
from hotaru.profiler import ProfilerActivity, profile, record_function

import hotaru as torch
from hotaru import nn

TURN = "autograd::engine::evaluate_function: "
LEAF = "torch::autograd::AccumulateGrad"


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def _linear(w):
    nn.functional.linear(torch.ones(4, 3), w, w[0].detach()).sum().backward()


def _written(w):
    y = w * 1
    y[0].mul_(2)
    y.sum().backward()


# Nodes as PyTorch 2.13 names them in order; one inside of another after ">".
NODES = {
    "linear": (_linear, ["SumBackward0", "AddmmBackward0", "TBackward0", LEAF]),
    "chain": (
        lambda w: (torch.relu(w @ w) * 2).exp().sum().backward(),
        [
            "SumBackward0",
            "ExpBackward0",
            "MulBackward0",
            "ReluBackward0",
            "MmBackward0",
            LEAF,
        ],
    ),
    "function": (
        lambda w: Doubled.apply(w).sum().backward(),
        ["SumBackward0", "DoubledBackward", LEAF],
    ),
    "written view": (
        _written,
        [
            "SumBackward0",
            "torch::autograd::CopySlices",
            ">MulBackward0",
            "MulBackward0",
            LEAF,
        ],
    ),
    "two roots": (
        lambda w: torch.autograd.backward([w.sum(), w.exp().sum()]),
        [
            "torch::autograd::GraphRoot",
            "SumBackward0",
            "ExpBackward0",
            "SumBackward0",
            LEAF,
        ],
    ),
    "softmax": (
        lambda w: nn.functional.cross_entropy(w, torch.tensor([0, 1, 2])).backward(),
        ["NllLossBackward0", "LogSoftmaxBackward0", LEAF],
    ),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_are_pytorchs(name):
    run, wanted = NODES[name]
    w = torch.ones(3, 3, requires_grad=True)
    with profile(activities=[ProfilerActivity.CPU]) as p:
        run(w)
    found = []
    for event in p.events():
        if event.kind != "node" or event.name.startswith(TURN):
            continue
        turn = event.cpu_parent
        if turn.name.startswith(TURN):
            assert turn.name == TURN + event.name
            assert turn.sequence_nr == event.sequence_nr
            found.append(event.name)
        else:
            assert turn.kind == "node"
            found.append(">" + event.name)
        assert (turn.scope, event.scope) in ((0, 1), (1, 1))
    assert found == wanted


def test_what_is_only_wanted_has_a_turn_alone():
    w = torch.ones(3, requires_grad=True)
    loss = (w * 2 + w.detach().requires_grad_()).sum()
    with profile() as p:
        torch.autograd.grad(loss, w)
    keys = [e.name for e in p.events() if e.kind == "node"]
    assert keys.count(TURN + LEAF) == 1  # the other leaf is not gone to
    assert LEAF not in keys


def test_kernels_and_calls_are_inside_of_nodes():
    w = torch.ones(3, requires_grad=True)
    loss = Doubled.apply(w.exp()).sum()
    with profile() as p:
        loss.backward()
    above = {e.name: e.cpu_parent.name for e in p.events() if e.cpu_parent}
    assert above["aten::mul"] == "DoubledBackward"
    kernels = [e for e in p.events() if e.kind == "kernel"]
    owners = {e.cpu_parent.name for e in kernels if e.cpu_parent}
    assert "ExpBackward0" in owners
    averages = {e.key: e for e in p.key_averages()}
    assert averages["ExpBackward0"].cpu_time_total > 0
    assert averages[TURN + "ExpBackward0"].self_cpu_time_total >= 0


def test_nodes_of_a_failed_pass_are_there_and_none_without_a_profile():
    w = torch.ones(3, requires_grad=True)
    loss = w.exp().sum()
    loss.grad_fn.next_functions[0][0].register_prehook(lambda *_: 1 / 0)
    with profile() as p, pytest.raises(ZeroDivisionError):
        loss.backward()
    assert TURN + "ExpBackward0" in [e.name for e in p.events()]
    w.exp().sum().backward()
    with profile() as p:
        pass
    assert not p.events()


def _memory(run):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        run()
    return p, {e.key: e for e in p.key_averages()}


def _drop():
    y = torch.empty(1024)
    z = y + y
    del y, z


# PyTorch 2.13's cpu_memory_usage and self_cpu_memory_usage.
USAGES = {
    "empty": (lambda: torch.empty(1024), {"aten::empty": (4096, 4096)}),
    "bytes": (lambda: torch.empty(7, dtype=torch.int8), {"aten::empty": (7, 7)}),
    "none": (lambda: torch.ones(4).view(2, 2), {"aten::view": (0, 0)}),
    "inside": (
        lambda: torch.ones(4, 4) @ torch.ones(4, 4),
        {"aten::matmul": (64, 0), "aten::mm": (64, 64)},
    ),
    "dropped": (_drop, {"aten::add": (4096, 4096), "[memory]": (-8192, -8192)}),
    "linear": (
        lambda: nn.functional.linear(torch.ones(4, 4), torch.ones(4, 4), torch.ones(4)),
        {"aten::linear": (64, 0), "aten::addmm": (64, 64), "aten::t": (0, 0)},
    ),
}


@pytest.mark.parametrize("name", USAGES)
def test_memory_is_pytorchs(name):
    run, wanted = USAGES[name]
    _, averages = _memory(run)
    for key, numbers in wanted.items():
        event = averages[key]
        assert (event.cpu_memory_usage, event.self_cpu_memory_usage) == numbers


def test_memory_of_a_training_step():
    layer, x = nn.Linear(4, 4), torch.ones(4, 4)
    layer(x).sum().backward()  # gradients are there

    def step():
        layer(x).sum().backward()

    p, averages = _memory(step)
    assert averages[TURN + "AddmmBackward0"].cpu_memory_usage == 80
    assert averages[TURN + LEAF].cpu_memory_usage == -80
    assert averages[LEAF].self_cpu_memory_usage == -80
    # Everything that was taken was given back.
    assert sum(record.nbytes for record in p.events().memory) == 0
    assert sum(e.self_cpu_memory_usage for e in p.events()) == 0


def test_what_was_there_before_is_not_told():
    y = torch.ones(1024)

    def drop():
        nonlocal y
        y = None

    p, averages = _memory(drop)
    assert not averages
    assert p.events().memory == []


def test_memory_of_other_threads_is_not_of_this_ones_ranges():
    def elsewhere():
        torch.ones(1024)

    def run():
        with record_function("here"):
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
            torch.empty(16)

    _, averages = _memory(run)
    # The tensor of 64 bytes is gone before the range ends.
    assert averages["here"].cpu_memory_usage == 0
    assert averages["[memory]"].cpu_memory_usage == 0


def test_sizes_that_change():
    def run():
        x = torch.empty(4)
        x.resize_(16)
        return x

    p, averages = _memory(run)
    assert averages["aten::resize_"].cpu_memory_usage == 64 - 16
    assert [r.total for r in p.events().memory][-1] in (0, 64)


def test_tables_and_traces(tmp_path):
    kept = []
    p, _ = _memory(lambda: kept.append(torch.ones(1024, 1024) + 1))
    table = p.key_averages().table(sort_by="self_cpu_memory_usage")
    assert " CPU Mem " in table
    assert "Self CPU Mem" in table
    assert "4.00 MB" in table
    rows = [line.split()[0] for line in table.splitlines()[3:6]]
    assert rows[0] in ("aten::ones", "aten::add", "aten::empty")
    with profile() as without:
        torch.ones(3)
    assert "CPU Mem" not in without.key_averages().table()
    path = tmp_path / "trace.json"
    p.export_chrome_trace(path)
    rows = json.loads(path.read_text())["traceEvents"]
    rows = [row for row in rows if row["name"] == "[memory]"]
    assert {(row["ph"], row["cat"]) for row in rows} == {("i", "cpu_instant_event")}
    told = [(r["args"]["Bytes"], r["args"]["Total Allocated"]) for r in rows]
    assert told[0] == (2**22, 2**22)
    assert {row["args"]["Device Type"] for row in rows} == {0}
    assert sum(nbytes for nbytes, _ in told) == 2**22  # the ones are gone
    assert rows[0]["args"]["Addr"] > 0


def test_memory_of_texts():
    from hotaru.profiler._table import memory_text

    # PyTorch's _format_memory.
    numbers = [0, -64, 1023, 1024, -1536, 1 << 20, 5 * (1 << 30)]
    texts = ["0 B", "-64 B", "1023 B", "1.00 KB", "-1.50 KB", "1.00 MB", "5.00 GB"]
    assert list(map(memory_text, numbers)) == texts


def test_autograds_profile_has_memory_too():
    with torch.autograd.profiler.profile(profile_memory=True) as p:
        torch.empty(16)
    found = [e.cpu_memory_usage for e in p.function_events if e.name == "aten::empty"]
    assert found == [64]
    assert "CPU Mem" in p.table()
