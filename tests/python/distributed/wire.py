"""Two network namespaces, and a wire between them that delays and drops.

Run as a program it is the wire: packets that come out of one namespace's device
go into the other's, later, or never.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x1001


def run(*command: str) -> None:
    """Runs a command; CalledProcessError if it fails."""
    subprocess.run(command, check=True, capture_output=True)


def possible() -> bool:
    """Tells whether this process may make namespaces and devices."""
    name = f"hotaru-try-{os.getpid()}"
    try:
        run("ip", "netns", "add", name)
        run("ip", "netns", "del", name)
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


class Wire:
    """Namespaces `spaces[0]` at 10.97.0.1 and `spaces[1]` at 10.97.0.2."""

    def __init__(self, delay_ms: float, drop: float, seed: int) -> None:
        self.spaces = [f"hotaru-{os.getpid()}-{i}" for i in (0, 1)]
        self._arguments = [str(delay_ms), str(drop), str(seed)]

    def __enter__(self) -> Wire:
        for space in self.spaces:
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
        self.process = subprocess.Popen(
            [sys.executable, __file__, *self.spaces, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout.readline() == b"up\n"
        return self

    def cut(self) -> None:
        """From now on nothing comes through."""
        self.process.stdin.write(b"x")
        self.process.stdin.flush()

    def __exit__(self, *error) -> None:
        self.process.kill()
        self.process.wait()
        for space in self.spaces:
            run("ip", "netns", "del", space)


def _device(space: str, number: int) -> int:
    name = f"tun{os.getpid()}n{number}"[:15]
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH", name.encode(), _TUN_WITHOUT_HEADER))
    run("ip", "link", "set", name, "netns", space)
    address = f"10.97.0.{number + 1}/24"
    run("ip", "-n", space, "addr", "add", address, "dev", name)
    run("ip", "-n", space, "link", "set", name, "up")
    return fd


def main(spaces: list[str], delay: float, drop: float, seed: int) -> None:
    """Carries packets until it is killed; none after stdin had a byte."""
    random.seed(seed)
    ends = [_device(space, i) for i, space in enumerate(spaces)]
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    under_way: list[tuple[float, int, int, bytes]] = []
    count, is_cut = 0, False
    sys.stdout.write("up\n")
    sys.stdout.flush()
    while True:
        now = time.monotonic()
        while under_way and under_way[0][0] <= now:
            _, _, end, packet = heapq.heappop(under_way)
            if not is_cut:
                os.write(end, packet)
        wait = under_way[0][0] - now if under_way else None
        ready, _, _ = select.select([*ends, 0], [], [], wait)
        for end in ready:
            if end == 0:
                is_cut = is_cut or bool(os.read(0, 1))
                continue
            packet = os.read(end, 65536)
            count += 1
            if random.random() >= drop:
                due = time.monotonic() + random.random() * delay
                heapq.heappush(under_way, (due, count, other[end], packet))


if __name__ == "__main__":
    main(sys.argv[1:3], float(sys.argv[3]) / 1000, float(sys.argv[4]), int(sys.argv[5]))
