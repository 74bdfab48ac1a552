"""Futures: torch.futures' interface, threads, and TorchScript's fork."""

import io
import sys
import threading
import zipfile

import pytest
from hotaru.futures import Future, collect_all, wait_all

import hotaru as torch

PICKLED_MODULE = b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00training\x88sb."


def script(methods: str):
    """A module made of the methods' TorchScript source."""
    code = "class M(Module):\n  training : bool\n" + methods
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("m/data.pkl", PICKLED_MODULE)
        archive.writestr("m/constants.pkl", b"\x80\x02).")
        archive.writestr("m/code/__torch__.py", code)
        archive.writestr("m/version", "3\n")
    file.seek(0)
    return torch.jit.load(file)


def test_value_is_the_object_that_was_set():
    future = Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="not complete"):
        future.value()
    thing = object()
    future.set_result(thing)
    assert future.done()
    assert torch.futures.Future[None].__origin__ is torch.futures.Future
    assert future.value() is thing
    assert future.wait() is thing
    with pytest.raises(RuntimeError, match="can only be marked completed once"):
        future.set_result(2)


def test_exception_is_raised_each_time():
    future = Future()
    with pytest.raises(AssertionError, match="not an Exception"):
        future.set_exception(3)
    error = ValueError("foo")
    future.set_exception(error)
    for ask in (future.wait, future.value, future.wait):
        with pytest.raises(ValueError, match="foo") as caught:
            ask()
        assert caught.value is error


def test_then():
    first = Future()
    second = first.then(lambda f: f.value() * 2).then(lambda f: [f.wait()])
    assert not second.done()
    first.set_result(21)
    assert second.wait() == [42]
    assert first.then(lambda f: f is not None).value() is True
    with pytest.raises(TypeError, match="callable"):
        first.then(3)


def test_then_of_a_failure():
    def fails(future):
        raise KeyError("own")

    first = Future()
    passed, own = first.then(lambda f: f.value()), first.then(fails)
    first.set_exception(ValueError("foo"))
    with pytest.raises(RuntimeError, match="callback: ValueError: foo") as e:
        passed.wait()
    assert isinstance(e.value.__cause__, ValueError)
    with pytest.raises(RuntimeError, match="callback: KeyError: 'own'"):
        own.wait()


def test_done_callbacks_run_before_set_result_returns(monkeypatch):
    heard = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda args: heard.append(args.exc_value)
    )
    future, seen = Future(), []
    assert future.add_done_callback(lambda f: seen.append(f.value())) is None
    future.add_done_callback(lambda f: 1 / 0)
    future.add_done_callback(lambda f: seen.append("last"))
    future.set_result(1)
    assert seen == [1, "last"]
    future.add_done_callback(lambda f: seen.append("late"))
    assert seen == [1, "last", "late"]
    assert [type(e) for e in heard] == [ZeroDivisionError]


def test_chain_of_ten_thousand():
    first = Future()
    last = first
    for _ in range(10000):
        last = last.then(lambda f: f.value() + 1)
    first.set_result(0)
    assert last.wait() == 10000


def test_collecting():
    futures = [Future() for _ in range(3)]
    together = collect_all(futures)
    for value, future in enumerate(futures):
        assert not together.done()
        future.set_result(value)
    assert [f.value() for f in together.wait()] == [0, 1, 2]
    assert wait_all(futures) == [0, 1, 2]
    assert wait_all([]) == []
    with pytest.raises(TypeError, match="expected Futures, not 'int'"):
        collect_all([3])


def test_first_failure_ends_collecting():
    good, bad = Future(), Future()
    together = collect_all([good, bad])
    bad.set_exception(ValueError("bad"))
    assert together.done()
    with pytest.raises(ValueError, match="bad"):
        wait_all([good, bad])


def test_threads_wait_for_each_other():
    """Wait gives up the interpreter's lock, or nobody could complete."""
    futures = [Future() for _ in range(17)]

    def link(i):
        futures[i].set_result(futures[i + 1].wait() + 1)

    threads = [threading.Thread(target=link, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    futures[16].set_result(0)
    assert futures[0].wait() == 16
    for thread in threads:
        thread.join()


def test_subscripts_and_devices():
    assert Future[int].__args__ == (int,)
    assert Future[int].__origin__ is Future is torch.jit.Future
    Future(devices=None)
    with pytest.raises(ValueError, match="to have indices, got cpu"):
        Future(devices=["cpu"])


def test_eager_fork_runs_at_once():
    order = []

    def work(x, by=1):
        order.append(x)
        return x + by

    future = torch.jit.fork(work, 1, by=2)
    assert order == [1]
    assert future.done()
    assert torch.futures.Future[None].__origin__ is torch.futures.Future
    assert torch.jit.wait(future) == 3
    assert torch.jit._wait(torch.jit._fork(work, 5)) == 6
    with pytest.raises(ZeroDivisionError):
        torch.jit.fork(lambda: 1 / 0)
    with pytest.raises(TypeError, match="not 'int'"):
        torch.jit.wait(3)


FORKS = """\
  def double(self: __torch__.M, x: int) -> int:
    assert x < 3, "too big"
    return x * 2
  def start(self: __torch__.M, x: int) -> Future[int]:
    return torch.jit.fork(self.double, x)
  def add(self: __torch__.M, f: Future[int], x: int) -> int:
    return torch.jit.wait(f) + x
  def later(self: __torch__.M, f: Future[int]) -> Future[int]:
    return torch.jit.fork(self.add, f, 1)
"""


def test_script_gives_and_takes_futures():
    module = script(FORKS)
    future = module.start(2)
    assert isinstance(future, Future)
    assert future.wait() == 4
    assert module.add(future, 3) == 7
    assert future.then(lambda f: f.value() * 10).wait() == 40


def test_python_completes_what_a_script_waits_for():
    module = script(FORKS)
    gate = Future()
    waiting = [module.later(gate) for _ in range(50)]
    total = collect_all(waiting)
    assert not total.done()
    gate.set_result(4)
    assert [f.value() for f in total.wait()] == [5] * 50
    wrong = Future()
    wrong.set_result("text")
    with pytest.raises(RuntimeError, match="int"):
        module.add(wrong, 1)
    failed = Future()
    failed.set_exception(ValueError("from Python"))
    with pytest.raises(RuntimeError, match="from Python"):
        module.add(failed, 1)


def test_assert_in_a_fork():
    future = script(FORKS).start(5)
    with pytest.raises(RuntimeError) as caught:
        future.wait()
    text = str(caught.value)
    assert text.startswith(
        "The following operation failed in the TorchScript interpreter.\n"
    )
    assert "AssertionError: too big" in text


@torch.jit.script
def half(x):
    return x * 0.5


@torch.jit.script
def through_forks(x, n: int):
    futures = [torch.jit.fork(half, x * i) for i in range(n)]
    total = torch.zeros_like(x)
    for future in futures:
        total = total + torch.jit.wait(future)
    return total


def test_gradients_flow_through_forks():
    x = torch.ones(3, requires_grad=True)
    y = through_forks(x, 5)
    assert y.tolist() == [5.0] * 3
    y.sum().backward()
    assert x.grad.tolist() == [5.0] * 3
    with torch.no_grad():
        assert not through_forks(x, 5).requires_grad


def test_sixteen_threads_call_one_function():
    results = [None] * 16

    def work(i):
        x = torch.full((4,), float(i))
        results[i] = [through_forks(x, 9)[0].item() for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[18.0 * i] * 20 for i in range(16)]


def test_a_thread_that_helps_keeps_its_switches():
    """Who waits may run the program; what it had set is as before."""

    def twice(x):
        return x * 2

    @torch.jit.script
    def forked(x):
        futures = [torch.jit.fork(torch.sum, x) for _ in range(4)]
        return [torch.jit.wait(future) for future in futures]

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # nobody else would run it
    try:
        for _ in range(5):
            forked(torch.ones(2))
            torch.jit.wait(torch.jit.fork(torch.jit.script(twice), torch.ones(1)))
            assert torch.is_autocast_cache_enabled()
    finally:
        torch.set_num_threads(threads)


def test_a_future_may_have_none_as_its_result():
    future = torch.futures.Future()
    future.set_result(None)
    assert future.wait() is None
    assert future.done()
    assert torch.futures.Future[None].__origin__ is torch.futures.Future
