"""Results and arguments of compiled calls that are tuples with named fields,
which nothing but their own class can make.
"""

import os
import sys
import time

import pytest

import hotaru as torch

pytestmark = pytest.mark.filterwarnings("ignore:compile")

SQUARE = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
RECORDS = {
    "max": lambda x: x.max(0),
    "median": lambda x: x.median(0),
    "mode": lambda x: x.mode(),
    "sort": lambda x: x.sort(),
    "topk": lambda x: x.topk(1),
    "kthvalue": lambda x: x.kthvalue(2),
    "cummax": lambda x: x.cummax(0),
    "aminmax": lambda x: x.aminmax(),
    "frexp": lambda x: x.frexp(),
    "slogdet": lambda x: x.slogdet(),
    "linalg.svd": lambda x: torch.linalg.svd(x),
    "linalg.qr": lambda x: torch.linalg.qr(x),
    "linalg.eigh": lambda x: torch.linalg.eigh(x),
    "linalg.lu_factor": lambda x: torch.linalg.lu_factor(x),
    "list": lambda x: [x.max(0), x * 2],
    "dict": lambda x: {"a": {"b": x.min(1)}, "c": x},
    "time": lambda x: (time.struct_time(range(9)), x * 2),
    "more fields": lambda x: [time.struct_time(range(11)), x.exp()],
    "stat": lambda x: (os.stat_result(range(19)), x * 2),
    "flags": lambda x: (sys.flags, x * 2),
}
WAYS = {
    "compile": lambda f: torch.compile(f, fullgraph=True),
    "graphed": torch.cuda.make_graphed_callables,
}


def check_same(got, wanted):
    assert type(got) is type(wanted)
    if isinstance(wanted, torch.Tensor):
        assert torch.equal(got, wanted)
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key, value in wanted.items():
            check_same(got[key], value)
    elif hasattr(wanted, "n_fields") and "tensor" not in repr(wanted):
        assert got == wanted
        assert got.__reduce__() == wanted.__reduce__()
    elif isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            check_same(one, other)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RECORDS)
def test_results_with_names(way, name):
    function = RECORDS[name]
    run = WAYS[way](function)
    for k in range(1, 4):
        check_same(run(SQUARE * k), function(SQUARE * k))


def test_same_record_twice():
    def function(x):
        found = x.max(0)
        return found, [found]

    run = torch.compile(function, fullgraph=True)
    for _ in range(2):
        first, (second,) = run(SQUARE)
        assert first is second


def test_gradients_through_a_field():
    run = torch.compile(lambda x: x.max(0), fullgraph=True)
    x = SQUARE.clone().requires_grad_()
    for count in (1.0, 2.0):
        run(x).values.sum().backward()
        expected = torch.tensor([[1.0, 0.0], [0.0, 1.0]]) * count
        assert torch.equal(x.grad, expected)


@pytest.mark.parametrize("way", WAYS)
def test_records_as_arguments(way):
    def function(found, more):
        return found.values * found.indices + more["a"].values

    run = WAYS[way](function)
    for k in (1, 2, -1):
        arguments = (SQUARE * k).max(0), {"a": (SQUARE + k).sort()}
        assert torch.equal(run(*arguments), function(*arguments))
