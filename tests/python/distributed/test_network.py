"""Ranks on two hosts, and a wire that delays, drops, or is cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap

import pytest
import wire

pytestmark = pytest.mark.skipif(
    not shutil.which("ip") or not wire.possible(),
    reason="needs root, /dev/net/tun and iproute2",
)

PROGRAM = textwrap.dedent("""
    import sys, time
    from datetime import timedelta
    import hotaru as torch
    import hotaru.distributed as dist

    limit = timedelta(seconds=float(sys.argv[1]))
    dist.init_process_group("gloo", timeout=limit)
    rank = dist.get_rank()
    x = torch.empty(20000)
    for step in range(int(sys.argv[2])):
        for t in (x[:1], x):
            dist.all_reduce(t.fill_(rank + step))
            assert (t == 2 * step + 1).all(), t
        dist.broadcast(x.fill_(rank), step % 2)
        assert (x == step % 2).all()
    print("done", flush=True)
    try:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            dist.all_reduce(x)
    except dist.DistBackendError as error:
        print(error, flush=True)
""")


def ranks(between: wire.Wire, timeout: float, steps: int) -> list:
    """A process in each namespace."""
    return [
        subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                space,
                sys.executable,
                "-c",
                PROGRAM,
                str(timeout),
                str(steps),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ
            | {
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "MASTER_PORT": "29400",
                "MASTER_ADDR": "10.97.0.1",
            },
        )
        for rank, space in enumerate(between.spaces)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_packets_that_are_late_or_lost_change_nothing_and_a_cut_wire_is_told(seed):
    with wire.Wire(delay_ms=8, drop=0.02, seed=seed) as between:
        processes = ranks(between, timeout=5, steps=15)
        try:
            for process in processes:
                line = process.stdout.readline()
                assert line == "done\n", line + process.stdout.read()
            between.cut()
            for rank, process in enumerate(processes):
                said, _ = process.communicate(timeout=40)
                assert "Timed out waiting 5000ms for all_reduce" in said
                assert f"not heard of: rank {1 - rank}" in said
                assert process.returncode == 0
        finally:
            for process in processes:
                process.kill()
                process.wait()
