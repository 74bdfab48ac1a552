"""How processes find their store: URLs, the environment, launchers."""

from __future__ import annotations

import subprocess
import sys

import hotaru.distributed as dist
import pytest


def first(*args, **kwargs):
    return next(iter(dist.rendezvous(*args, **kwargs)))


@pytest.fixture
def launched(monkeypatch):
    """The environment of rank 0 of one, on a port that is free."""
    for name in ("TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RESTART_COUNT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "RANK": "0",
        "WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "0",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


# As PyTorch 2.13 says it.
ERRORS = [
    ("foo://", RuntimeError, "No rendezvous handler for foo://"),
    ("file://", ValueError, "using file:// rendezvous: path missing"),
    ("file:///s", ValueError, "file:// rendezvous: rank parameter missing"),
    ("file:///s?rank=0", ValueError, "world size parameter missing"),
    ("tcp://127.0.0.1", ValueError, "tcp:// rendezvous: port number missing"),
    ("tcp://h:1?rank=0", ValueError, "world size parameter missing"),
    ("tcp://h:70000?rank=0&world_size=1", ValueError, "70000|out of range"),
    (3, RuntimeError, "`url` must be a string"),
]


@pytest.mark.parametrize(("url", "error", "text"), ERRORS)
def test_what_is_missing(url, error, text):
    with pytest.raises(error, match=text):
        first(url)


def test_what_the_environment_lacks(launched):
    launched.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="variable WORLD_SIZE expected, but"):
        first("env://")
    launched.setenv("MASTER_PORT", "70000")
    with pytest.raises(ValueError, match="from 0 to 65535 but was 70000"):
        first("env://", world_size=1)
    with pytest.raises(RuntimeError, match="`rank` must be an integer"):
        first("env://", rank="x")
    with pytest.raises(AssertionError, match="node-specific arguments"):
        first("tcp://127.0.0.1:1?rank=0", 0, 1)


def test_the_environment(launched):
    meetings = iter(dist.rendezvous("env://"))
    store, rank, size = next(meetings)
    assert isinstance(store, dist.TCPStore)
    assert (rank, size) == (0, 1)
    store.set("k", "v")
    assert store.get("k") == b"v"
    with pytest.raises(RuntimeError, match="re-rendezvous using env://"):
        next(meetings)


def test_a_file(tmp_path):
    path = tmp_path / "store"
    store, rank, size = first(f"file://{path}", 1, 2)
    assert (rank, size) == (1, 2)
    assert store.path == str(path)


def test_processes_meet_over_tcp():
    port = dist.TCPStore(
        "127.0.0.1", 0, None, True, wait_for_workers=False
    ).port  # free again
    code = (
        "import sys, hotaru.distributed as dist\n"
        "url = 'tcp://127.0.0.1:' + sys.argv[1]\n"
        "store, rank, size = next(dist.rendezvous(url, int(sys.argv[2]), 3))\n"
        "store.set(str(rank), str(rank * rank))\n"
        "assert store.multi_get(['0', '1', '2']) == [b'0', b'1', b'4']\n"
        "store.add('left', 1)\n"
        "while rank == 0 and store.add('left', 0) < 3: pass\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(port), str(rank)])
        for rank in range(3)
    ]
    assert [p.wait(120) for p in running] == [0, 0, 0]


def test_a_launcher_that_serves_the_store(launched):
    launcher = dist.TCPStore("127.0.0.1", 0, 2, True, wait_for_workers=False)
    launched.setenv("MASTER_PORT", str(launcher.port))
    launched.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    launched.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    store, rank, _ = first("env://")
    store.set("k", "v")
    assert rank == 0
    assert launcher.get("/worker/attempt_2/k") == b"v"


def test_a_scheme_of_ones_own():
    store = dist.HashStore()

    def meet(url, **kwargs):
        yield store, 3, 4

    dist.register_rendezvous_handler("own-scheme", meet)
    assert first("own-scheme://here")[1:] == (3, 4)
    with pytest.raises(RuntimeError, match="own-scheme:// already registered"):
        dist.register_rendezvous_handler("own-scheme", meet)
