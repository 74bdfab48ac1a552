"""Calls of one module with tensors of several threads."""

from __future__ import annotations

import threading

from hotaru.func import functional_call, grad, vmap

import hotaru as torch
from hotaru import nn


class Meets(nn.Module):
    """The first call waits for the second to be inside, which waits for the
    first to be over; neither waits for long.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2))
        self.began, self.inside, self.over = (threading.Event() for _ in range(3))

    def forward(self, x, first):
        if first:
            self.began.set()
            self.inside.wait(0.2)
        else:
            self.inside.set()
            self.over.wait(5)
        return x * self.weight


def test_each_thread_gets_the_result_of_its_own_tensors():
    module, x, results = Meets(), torch.ones(2), {}
    own = module.weight

    def call(first):
        if not first:
            module.began.wait(5)
        given = {"weight": torch.full((2,), 1.0 if first else 2.0)}
        out = functional_call(module, given, (x, first))
        results[first] = out.tolist()
        if first:
            module.over.set()

    threads = [threading.Thread(target=call, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {True: [1, 1], False: [2, 2]}
    assert module.weight is own


def test_a_call_inside_of_a_call():
    inner = nn.Linear(2, 2)

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x, depth=1):
            if not depth:
                return self.inner(x)
            zeros = {"inner.bias": torch.zeros(2)}
            return functional_call(self, zeros, (x, depth - 1))

    module = Twice()
    out = functional_call(module, {"inner.weight": torch.eye(2)}, torch.ones(1, 2))
    assert out.tolist() == [[1, 1]]

    def loss(params, x):
        return functional_call(inner, params, x).square().sum()

    given = {"weight": torch.eye(2), "bias": torch.zeros(2)}
    slopes = vmap(grad(loss), (None, 0))(given, torch.ones(3, 1, 2))
    assert slopes["bias"].tolist() == [[2, 2]] * 3
