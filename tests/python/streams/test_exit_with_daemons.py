"""A process ends in order while daemon threads compute."""

import subprocess
import sys

import pytest

PROGRAM = """
import threading
import hotaru as torch

stream = torch.cpu.Stream()
running = threading.Semaphore(0)


def parallel():
    x = torch.ones(300, 300)  # large enough to let go of the interpreter
    yield
    while True:
        x @ x
        yield


def hooks():
    x = torch.ones(20, requires_grad=True)
    x.register_hook(lambda grad: grad * 1)
    while True:
        (x * 2).sum().backward()
        yield


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def functions():
    x = torch.ones(20, requires_grad=True)
    while True:
        Twice.apply(x).sum().backward()
        yield


def queued():
    x = torch.ones(100, 100)
    while True:
        with torch.cpu.stream(stream):
            x = (x @ x).tanh()
        stream.synchronize()
        yield


def run(work):
    for step, _ in enumerate(work()):
        if step == 1:
            running.release()


works = [WORKS] * 4
for work in works:
    threading.Thread(target=run, args=(work,), daemon=True).start()
for _ in works:
    running.acquire()
print("ended")
"""


@pytest.mark.parametrize("work", ["parallel", "hooks", "functions", "queued"])
def test_exit(work):
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.replace("WORKS", work)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
