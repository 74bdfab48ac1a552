"""torch.jit._awaitable: calls that are made when their result is asked for."""

import copy
import threading

import pytest

import hotaru as torch


def test_the_call_is_made_once_and_late():
    calls = []

    def twice(x):
        calls.append(x)
        return x * 2

    aw = torch.jit._awaitable(twice, torch.ones(2))
    assert not calls
    assert aw.fn() is twice
    assert not aw.is_nowait()
    assert aw.args()[0].tolist() == [1, 1]
    assert not calls
    assert torch.jit._awaitable_wait(aw).tolist() == [2, 2]
    assert torch.jit._awaitable_wait(aw) is torch.jit._awaitable_wait(aw)
    assert len(calls) == 1


def test_attributes_are_those_of_the_result():
    aw = torch.jit._awaitable(torch.ones, 3)
    assert isinstance(aw, torch._C._Await)
    assert aw.dtype == torch.float32
    assert aw.shape == (3,)
    with pytest.raises(AttributeError, match="nothing"):
        aw.nothing  # noqa: B018
    with pytest.raises(AttributeError):
        torch.jit._Await.__new__(torch.jit._Await)._lock  # noqa: B018


def test_a_value_that_is_there():
    aw = torch.jit._awaitable_nowait(33)
    assert aw.is_nowait()
    assert aw.args() == (33,)
    assert torch.jit._awaitable_wait(aw) == 33
    with pytest.raises(RuntimeError, match="does not have fn"):
        aw.fn()
    assert torch.jit._Await[int] is not None  # an annotation


def test_a_call_that_fails_is_made_again():
    results = [ValueError("first"), 5]

    def fickle():
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    aw = torch.jit._awaitable(fickle)
    with pytest.raises(ValueError, match="first"):
        torch.jit._awaitable_wait(aw)
    assert torch.jit._awaitable_wait(aw) == 5


def test_threads_wait_for_one_call():
    calls = []
    aw = torch.jit._awaitable(lambda: calls.append(1) or len(calls))
    found = []

    def wait():
        found.append(torch.jit._awaitable_wait(aw))

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="keyword arguments"):
        torch.jit._awaitable(torch.ones, size=3)
    with pytest.raises(TypeError, match="expected an _Await, not 'int'"):
        torch.jit._awaitable_wait(3)
    with pytest.raises(TypeError):
        copy.deepcopy(torch.jit._awaitable(torch.ones, 3))
