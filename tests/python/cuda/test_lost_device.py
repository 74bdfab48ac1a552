"""A GPU that is taken away: every use of it says so, nothing hangs, and the
CPU and the other devices go on.

The GPU in software can lose a device at any moment; real ones give the same
answers when their driver lost them ("unspecified launch failure", "unknown
error").
"""

from __future__ import annotations

import pytest

import hotaru

HEAD = """
import ctypes, sys, threading
import hotaru as torch
x = torch.arange(6.0, device="cuda")
with open("/proc/self/maps") as maps:
    driver = ctypes.CDLL(next(
        line.split()[-1] for line in maps if "libhotaru_softgpu" in line))
def lose(device=0, error=719):
    driver.hotaru_softgpu_fail(device, error)
def told(f):
    try:
        text = str(f())
    except Exception as error:
        text = type(error).__name__ + " " + str(error).split("\\n")[0]
    sys.stdout.write(text + "\\n")  # at once, though threads write
"""
TAKEN = "AcceleratorError CUDA error: unspecified launch failure"

pytestmark = pytest.mark.skipif(
    not hotaru.cuda.is_available() or not hotaru._C._cuda_in_software(),
    reason="only the GPU in software can be taken away",
)


@pytest.mark.parametrize(
    "use",
    [
        "x.cpu()",
        "x.tolist()",
        "x + x",
        "x.to('cpu', non_blocking=True).tolist()",
        "torch.ones(3).cuda()",
        "torch.cuda.synchronize()",
        "torch.cuda.Stream()",
        "torch.cuda.current_stream().synchronize()",
        "torch.cuda.current_stream().query()",
        "torch.cuda.Event().record()",
        "torch.cuda.mem_get_info()",
        "torch.randn(3, device='cuda')",
        "torch.save(x, '/dev/null')",
        "torch.ones(1 << 22, device='cuda')",
    ],
)
def test_every_use_says_that_the_device_failed(run, use):
    printed = run(f"{HEAD}lose()\ntold(lambda: {use})\ntold(lambda: {use})")
    assert printed == f"{TAKEN}\n" * 2


def test_the_error_is_a_runtime_error_with_the_driver_s_number(run):
    printed = run(
        HEAD + "lose(error=999)\n"
        "try:\n"
        "    x.cpu()\n"
        "except torch.AcceleratorError as error:\n"
        "    print(error.error_code, isinstance(error, RuntimeError))\n"
        "print(torch.cuda.AcceleratorError is torch.AcceleratorError)\n"
    )
    assert printed == "999 True\nTrue\n"


def test_the_cpu_goes_on(run):
    printed = run(
        HEAD + "a = torch.arange(4.0)\n"
        "lose()\n"
        "told(lambda: (x + 1).cpu())\n"
        "print((a * 2).tolist())\n"
        "with torch.cpu.stream(torch.cpu.Stream()) as s:\n"
        "    b = a + 1\n"
        "torch.cpu.synchronize()\n"
        "print(b.tolist())\n"
        "w = torch.ones(3, requires_grad=True)\n"
        "(w * 3).sum().backward()\n"
        "print(w.grad.tolist())\n"
    )
    assert printed == (
        f"{TAKEN}\n[0.0, 2.0, 4.0, 6.0]\n[1.0, 2.0, 3.0, 4.0]\n[3.0, 3.0, 3.0]\n"
    )


def test_other_devices_go_on(run, two_devices):
    printed = run(
        HEAD + "y = torch.arange(3.0, device='cuda:1')\n"
        "z = x.to('cuda:1')\n"
        "torch.cuda.synchronize(0)\n"
        "torch.cuda.synchronize(1)\n"
        "lose(0)\n"
        "told(lambda: x.to('cuda:1').tolist())\n"
        "told(lambda: y.to('cuda:0'))\n"
        "print((y + 1).tolist(), z.tolist())\n"
        "s = torch.cuda.Stream('cuda:1')\n"
        "with torch.cuda.stream(s):\n"
        "    print((y * 2).tolist())\n"
        "torch.cuda.synchronize(1)\n"
    )
    assert printed == (
        f"{TAKEN}\n{TAKEN}\n"
        "[1.0, 2.0, 3.0] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]\n"
        "[0.0, 2.0, 4.0]\n"
    )


def test_a_cpu_stream_that_waits_for_it_hears_so(run):
    """It neither hangs nor computes with what the copy did not bring."""
    printed = run(
        HEAD + "host = torch.zeros(6).pin_memory()\n"
        "host.copy_(x, non_blocking=True)\n"
        "s = torch.cpu.Stream()\n"
        "lose()\n"
        "with torch.cpu.stream(s):\n"
        "    y = host + 1\n"
        "    host.add_(1)\n"
        "told(lambda: s.synchronize())\n"
        "told(lambda: y.tolist())\n"
        "told(lambda: host.tolist())\n"
        "with torch.cpu.stream(s):\n"
        "    z = torch.ones(2) + 1\n"
        "s.synchronize()\n"
        "print(z.tolist())\n",
        HOTARU_SOFT_GPU_DELAY_US="1000000",
    ).splitlines()
    assert printed[0].startswith(TAKEN)
    assert "unspecified launch failure" in printed[1]
    assert "unspecified launch failure" in printed[2]
    assert printed[3] == "[2.0, 2.0]"


def test_threads_that_wait_for_it_come_back(run):
    printed = run(
        HEAD + "streams = [torch.cuda.Stream() for _ in range(3)]\n"
        "begun = threading.Barrier(4)\n"
        "def work(stream):\n"
        "    begun.wait()\n"
        "    with torch.cuda.stream(stream):\n"
        "        while True:\n"
        "            y = (x + 1).sum().item()\n"
        "threads = [threading.Thread(\n"
        "    target=told, args=(lambda s=s: work(s),)) for s in streams]\n"
        "for t in threads: t.start()\n"
        "begun.wait()\n"
        "lose()\n"
        "for t in threads: t.join()\n"
    )
    assert printed == f"{TAKEN}\n" * 3


def test_memory_streams_and_events_go_quietly(run):
    printed = run(
        HEAD + "import gc\n"
        "s = torch.cuda.Stream()\n"
        "with torch.cuda.stream(s):\n"
        "    y = x * 2\n"
        "    e = torch.cuda.Event(enable_timing=True)\n"
        "    e.record()\n"
        "host = torch.zeros(6).pin_memory()\n"
        "host.copy_(y, non_blocking=True)\n"
        "lose()\n"
        "del s, e, y, host, x\n"
        "gc.collect()\n"
        "print('gone', torch.cuda.memory_allocated() >= 0)\n"
    )
    assert printed == "gone True\n"


def test_a_device_that_comes_back_works_again(run):
    """A driver that was reset; what was computed before is not relied on."""
    printed = run(
        HEAD + "lose()\n"
        "told(lambda: x.cpu())\n"
        "lose(error=0)\n"
        "print((torch.arange(3.0, device='cuda') + 1).tolist())\n"
    )
    assert printed == f"{TAKEN}\n[1.0, 2.0, 3.0]\n"
