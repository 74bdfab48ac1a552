"""Compiled code in many threads: calls, first calls, compiling."""

import threading

import hotaru as torch
from hotaru import nn

X = torch.arange(6.0).reshape(2, 3)


def run_together(work, count=8):
    """Calls work(i) in `count` threads that start at once; their results."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def body(i):
        barrier.wait(60)
        results[i] = work(i)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    return results


def scaled(x, k: int):
    return x * k


def branching(x, n: int):
    future = torch.jit.fork(scaled, x, n)
    total = torch.zeros_like(x)
    for i in range(n):
        if i % 2 == 0:
            total = total + x * i
            continue
        total = total - x
    return total + torch.jit.wait(future)


def test_first_calls_at_once():
    # Nothing has run before, so all threads wait for one of them to finish it.
    compiled = torch.jit.script(branching)
    results = run_together(lambda i: [compiled(X, n + i) for n in range(50)])
    for i, got in enumerate(results):
        for n, value in enumerate(got):
            assert torch.equal(value, branching(X, n + i))


def test_one_module_in_many_threads():
    module = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).eval()
    compiled = torch.jit.script(module)
    expected = module(X)
    results = run_together(
        lambda i: all(torch.equal(compiled(X), expected) for _ in range(100))
    )
    assert all(results)


def test_compiling_at_once_and_running_meanwhile():
    running = torch.jit.script(branching)

    def work(i):
        if i % 2:
            return [running(X, 4).sum().item() for _ in range(100)]
        out = []
        for k in range(5):

            def local(x, n: int = k):
                return scaled(x, n) + branching(x, 3)

            out.append(torch.jit.script(local)(X).sum().item())
        module = torch.jit.script(nn.Linear(3, 2))
        assert module(X).shape == (2, 2)
        return out

    results = run_together(work)
    expected = branching(X, 4).sum().item()
    fixed = branching(X, 3).sum().item()
    for i, got in enumerate(results):
        if i % 2:
            assert got == [expected] * 100
        else:
            assert got == [fixed + k * 15.0 for k in range(5)]


def test_gradients_in_many_threads():
    compiled = torch.jit.script(branching)

    def work(i):
        x = X.clone().requires_grad_()
        compiled(x, i).sum().backward()
        return x.grad

    for i, grad in enumerate(run_together(work)):
        x = X.clone().requires_grad_()
        branching(x, i).sum().backward()
        assert torch.equal(grad, x.grad)


def test_python_called_from_many_threads():
    @torch.jit.ignore
    def in_python(x: torch.Tensor, i: int) -> torch.Tensor:
        return x + sum(range(i))

    def f(x, i: int):
        total = x
        for _ in range(20):
            total = in_python(total, i)
        return total

    compiled = torch.jit.script(f)
    for i, got in enumerate(run_together(lambda i: compiled(X, i))):
        assert torch.equal(got, X + 20 * sum(range(i)))
