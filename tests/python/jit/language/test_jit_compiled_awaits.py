"""Await[T]: calls that compiled code makes when their result is asked for."""

# TorchScript knows the old spellings, and they are what is tested.
# ruff: noqa: UP006, UP035

import io
from typing import List, Tuple

import pytest
from hotaru._awaits import _Await as Await

import hotaru as torch
from hotaru import Tensor


class Pair:
    def __init__(self, a: Tensor, b: Tensor):
        self.a = a
        self.b = b

    def sum(self):
        return self.a + self.b


def note(seen: List[int], x: Tensor) -> Tensor:
    seen.append(1)
    return x * 2


def test_the_call_is_made_once_and_late():
    def f(x: Tensor) -> Tuple[Tensor, List[int]]:
        seen: List[int] = []
        aw = torch.jit._awaitable(note, seen, x)
        before = len(seen)
        y = torch.jit._awaitable_wait(aw) + torch.jit._awaitable_wait(aw)
        return y, [before, len(seen)]

    result, calls = torch.jit.script(f)(torch.ones(2))
    assert result.tolist() == [4, 4]
    assert calls == [0, 1]


def test_types_and_attributes():
    def made(x: Tensor) -> Pair:
        return Pair(x, x * 2)

    def nested(x: Tensor) -> Await[Await[Tensor]]:
        return torch.jit._awaitable_nowait(torch.jit._awaitable_nowait(x))

    def f(x: Tensor) -> Tensor:
        aw: Await[Pair] = torch.jit._awaitable(made, x)
        waits = torch.jit._awaitable_wait
        assert isinstance(aw, torch.jit._Await)
        return aw.a + aw.sum() + waits(waits(nested(x)))

    compiled = torch.jit.script(f)
    assert compiled(torch.ones(1)).tolist() == [5]
    assert "prim::awaitable_wait" in str(compiled.graph)
    assert "Await(" in str(compiled.graph)


def test_awaits_go_out_and_come_in():
    def out(x: Tensor) -> Await[Tensor]:
        return torch.jit._awaitable(torch.sin, x)

    def back(aw: Await[Tensor]) -> Tensor:
        return torch.jit._awaitable_wait(aw)

    x = torch.ones(2)
    aw = torch.jit.script(out)(x)
    assert isinstance(aw, Await)
    assert torch.equal(torch.jit._awaitable_wait(aw), x.sin())
    compiled = torch.jit.script(back)
    assert torch.equal(compiled(aw), x.sin())
    assert torch.equal(compiled(torch.jit._awaitable(torch.cos, x)), x.cos())


def test_errors_come_where_somebody_waits():
    def fails(x: Tensor) -> Tensor:
        assert x.sum() > 10, "too small"
        return x

    def f(x: Tensor, wait: bool) -> Tensor:
        aw = torch.jit._awaitable(fails, x)
        if wait:
            return torch.jit._awaitable_wait(aw)
        return x

    compiled = torch.jit.script(f)
    assert compiled(torch.ones(1), False).tolist() == [1]
    with pytest.raises(RuntimeError, match="too small"):
        compiled(torch.ones(1), True)


def test_gradients_flow():
    def f(x: Tensor) -> Tensor:
        aw = torch.jit._awaitable(torch.sin, x)
        return torch.jit._awaitable_wait(aw) * x

    x = torch.ones(2, requires_grad=True)
    torch.jit.script(f)(x).sum().backward()
    assert torch.allclose(x.grad, x.detach().cos() + x.detach().sin())


def test_saved():
    def delayed(x: Tensor) -> Tuple[Tensor, List[Tensor]]:
        return 100 * x, [x * i for i in range(5)]

    def f(x: Tensor) -> Tensor:
        aw = torch.jit._awaitable(delayed, x)
        _, parts = torch.jit._awaitable_wait(aw)
        return parts[3]

    file = io.BytesIO()
    torch.jit.save(torch.jit.script(f), file)
    file.seek(0)
    assert torch.jit.load(file)(torch.ones(2)).tolist() == [3, 3]
