"""Calls of more threads than cores go in order of arrival."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

import hotaru as torch


@pytest.mark.parametrize(
    ("setting", "ordered"), [(None, True), ("on", True), ("off", False)]
)
def test_on_unless_the_environment_says_off(setting, ordered):
    environment = dict(os.environ)
    environment.pop("HOTARU_ADMISSION", None)
    if setting is not None:
        environment["HOTARU_ADMISSION"] = setting
    program = "import hotaru; print(hotaru.cpu.ordered_calls())"
    out = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout == f"{ordered}\n"


@pytest.fixture
def set_ordered():
    before = torch.cpu.ordered_calls()
    yield torch.cpu.set_ordered_calls
    torch.cpu.set_ordered_calls(before)


@pytest.mark.parametrize("ordered", [True, False])
def test_many_callers_get_their_own_results(set_ordered, ordered):
    """Working memory changes hands between callers; values must not."""
    set_ordered(ordered)
    assert torch.cpu.ordered_calls() is ordered
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]
    net = torch.jit.script(torch.nn.Sequential(*layers).eval())
    inputs = [torch.randn(1, 16, 40, 40) for _ in range(12)]
    with torch.no_grad():
        wanted = [net(x) for x in inputs]
    wrong = []

    def call(index):
        with torch.no_grad():
            for _ in range(30):
                if not torch.equal(net(inputs[index]), wanted[index]):
                    wrong.append(index)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        set_ordered(not torch.cpu.ordered_calls())  # amid calls
        threads[0].join(0.002)
    for thread in threads:
        thread.join()
    assert not wrong


class Waiting(torch.nn.Module):
    """Enough work for a turn, and something else to wait for in it."""

    def __init__(self, wait=lambda: None):
        super().__init__()
        # Each too short for Python's lock to be let go of.
        layers = [torch.nn.Conv2d(16, 16, 3, padding=1) for _ in range(6)]
        self.layer = torch.nn.Sequential(*layers)
        self.wait = wait

    def forward(self, x, *, scale=1.0):
        self.wait()
        return self.layer(x) * scale


X = torch.ones(1, 16, 40, 40)


def in_threads(count, run):
    """Calls run(index) in so many threads at once; what they raised."""
    raised = []
    ready = threading.Barrier(count)

    def call(index):
        with torch.no_grad():
            ready.wait()
            try:
                run(index)
            except Exception as error:
                raised.append(error)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_calls_of_modules_take_turns(set_ordered):
    set_ordered(True)
    model, left = Waiting(), [800]
    calls = [0] * 8

    def run(index):
        while left[0] > 0:
            left[0] -= 1
            model(X)
            calls[index] += 1

    assert in_threads(8, run) == []
    # As Python's threads take turns, each would keep others out for 5 ms.
    assert min(calls) >= 800 / 8 / 4


@pytest.mark.parametrize("ordered", [True, False])
def test_modules_that_wait_for_each_other(set_ordered, ordered):
    """A place whose thread waits is lent; else all would wait for good."""
    set_ordered(ordered)
    meet = threading.Barrier(12, timeout=100)
    model = Waiting(meet.wait)

    def run(_):
        for _ in range(3):
            model(X)

    assert in_threads(12, run) == []


def test_a_module_that_raises_gives_its_turn_up(set_ordered):
    set_ordered(True)

    def fail():
        raise ValueError("no")

    failing, model = Waiting(fail), Waiting()

    def run(_):
        for _ in range(20):
            with pytest.raises(ValueError, match="no"):
                failing(X)
            model(X)

    assert in_threads(12, run) == []


def test_keywords_and_hooks_in_order(set_ordered):
    set_ordered(True)
    plain, hooked = Waiting(), Waiting()
    hooked.load_state_dict(plain.state_dict())
    hooked.register_forward_hook(lambda module, args, y: -y)
    with torch.no_grad():
        want = plain(X, scale=2.0)
    different = []

    def run(_):
        for _ in range(20):
            same = torch.equal(plain(X, scale=2.0), want)
            if not (same and torch.equal(hooked(X, scale=2.0), -want)):
                different.append(1)

    assert in_threads(12, run) == []
    assert not different
