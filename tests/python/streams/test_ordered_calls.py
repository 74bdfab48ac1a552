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
