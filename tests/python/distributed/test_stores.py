"""Stores: what operations mean, waiting, processes, and PyTorch's protocol."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from datetime import timedelta

import hotaru.distributed as dist
import pytest

SHORT = timedelta(milliseconds=80)


def tcp(**options) -> dist.TCPStore:
    options = {"is_master": True, "wait_for_workers": False} | options
    return dist.TCPStore("127.0.0.1", options.pop("port", 0), **options)


@pytest.fixture(params=["hash", "file", "tcp", "prefix"])
def store(request, tmp_path):
    if request.param == "hash":
        return dist.HashStore()
    if request.param == "file":
        return dist.FileStore(str(tmp_path / "store"), 1)
    if request.param == "tcp":
        return tcp()
    return dist.PrefixStore("part", tcp())


def test_operations(store):
    store.set("k", "text")
    assert store.get("k") == b"text"
    store.set("k", b"\0\xff")
    assert store.get("k") == b"\0\xff"
    assert store.add("n", 3) == 3
    assert store.add("n", -5) == -2
    assert store.get("n") == b"-2"
    store.append("a", "x")
    store.append("a", b"yz")
    assert store.get("a") == b"xyz"
    assert store.num_keys() == 3
    assert store.check(["k", "n"])
    assert not store.check(["k", "missing"])
    assert store.delete_key("k")
    assert not store.delete_key("k")
    assert store.num_keys() == 2
    store.multi_set(["p", "q"], ["1", b""])
    assert store.multi_get(["q", "p"]) == [b"", b"1"]
    store.wait(["p", "q"])


def test_compare_set(store):
    assert store.compare_set("k", "other", "new") == b"other"
    assert not store.check(["k"])
    assert store.compare_set("k", "", "first") == b"first"
    assert store.compare_set("k", "other", "second") == b"first"
    assert store.compare_set("k", "first", "second") == b"second"
    assert store.get("k") == b"second"


def test_queues(store, request):
    if "file" in request.node.name:
        with pytest.raises(NotImplementedError, match="queue support"):
            store.queue_push("q", "x")
        return
    store.queue_push("q", "first")
    store.queue_push("q", b"\0second")
    assert store.queue_len("q") == 2
    assert store.check(["q"])
    assert store.num_keys() == 0
    assert store.queue_pop("q") == b"first"
    assert store.queue_pop("q", block=False) == b"\0second"
    assert not store.check(["q"])
    with pytest.raises(dist.QueueEmptyError, match="queue is empty"):
        store.queue_pop("q", block=False)
    store.set_timeout(SHORT)
    with pytest.raises(dist.DistStoreError, match="timeout after 80ms"):
        store.queue_pop("q")


def test_each_item_of_a_queue_wakes_one(store, request):
    if "file" in request.node.name:
        return
    got = []
    others = [store.clone() for _ in range(3)]
    waiting = [
        threading.Thread(target=lambda s=s: got.append(s.queue_pop("q")))
        for s in others
    ]
    for thread in waiting:
        thread.start()
    for item in ("a", "b", "c"):
        store.queue_push("q", item)
    for thread in waiting:
        thread.join()
    assert sorted(got) == [b"a", b"b", b"c"]


def test_keys_are_listed(store):
    store.set("k", "1")
    store.add("n", 1)
    assert sorted(store.list_keys()) == ["k", "n"]


def test_a_barrier(store):
    store.barrier("alone", 1)
    other = store.clone()
    through = []
    thread = threading.Thread(target=lambda: through.append(other.barrier("both", 2)))
    thread.start()
    store.barrier("both", 2)
    thread.join()
    assert through == [None]
    with pytest.raises(
        dist.DistStoreError, match="barrier timeout after 80ms, key: few"
    ):
        store.barrier("few", 2, SHORT)


class Written(dist.Store):
    """A store in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.values = {}

    def set(self, key, value):
        self.values[key] = value

    def get(self, key):
        return self.values[key]

    def add(self, key, amount):
        self.values[key] = str(int(self.values.get(key, 0)) + amount).encode()
        return int(self.values[key])

    def wait(self, keys, timeout=None):
        for key in keys:
            if key not in self.values:
                raise LookupError(key)


def test_a_store_that_is_written_in_python():
    store = Written()
    part = dist.PrefixStore("p", store)
    part.set("a", "x")
    assert store.values == {"p/a": b"x"}
    assert part.get("a") == b"x"
    assert part.add("n", 4) == 4
    assert part.multi_get(["a", "n"]) == [b"x", b"4"]
    with pytest.raises(LookupError, match="p/z"):
        part.wait(["z"])
    with pytest.raises(RuntimeError, match=r"pure virtual.*check.*Written"):
        part.check(["a"])
    assert not part.has_extended_api()
    with pytest.raises(RuntimeError, match=r"Not implemented.*compare_set"):
        part.append("a", "y")
    with pytest.raises(ValueError, match="not None"):
        dist.PrefixStore("p", None)
    dist.init_process_group("gloo", store=Written(), rank=0, world_size=1)
    dist.barrier()
    dist.destroy_process_group()
    # It lives as long as what stands on it.
    part = dist.PrefixStore("q", Written())
    part.set("a", "y")
    assert part.get("a") == b"y"


def test_a_socket_that_listens_already():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    store = tcp(port=port, master_listen_fd=listener.detach())
    assert store.port == port
    other = tcp(port=port, is_master=False)
    other.set("k", "v")
    assert store.get("k") == b"v"
    with (
        open(os.devnull) as no_socket,
        pytest.raises(dist.DistNetworkError, match="is no socket that can listen"),
    ):
        tcp(master_listen_fd=no_socket.fileno())


def test_waiting_ends_in_time_and_names_the_keys(store):
    store.set("there", "")
    with pytest.raises(dist.DistStoreError, match=r"80ms, keys: .*missing"):
        store.wait(["there", "missing"], SHORT)
    store.set_timeout(SHORT)
    with pytest.raises(dist.DistStoreError, match="missing"):
        store.get("missing")
    assert store.get("there") == b""  # the connection is as it was
    assert issubclass(dist.DistStoreError, dist.DistError)
    assert issubclass(dist.DistError, RuntimeError)


def test_who_waits_is_woken(store):
    other = store.clone()
    waiter = threading.Thread(target=lambda: store.set("got", other.get("late")))
    waiter.start()
    third = store.clone()
    third.set("late", "value")
    waiter.join(60)
    assert store.get("got") == b"value"


def test_wrong_arguments(store):
    with pytest.raises(TypeError, match="bytes or str, not int"):
        store.set("k", 3)
    with pytest.raises(ValueError, match="2 keys and 1 values"):
        store.multi_set(["a", "b"], ["1"])
    with pytest.raises(ValueError, match="positive"):
        store.set_timeout(timedelta(0))
    store.set("k", "no number")
    with pytest.raises(RuntimeError):
        store.add("k", 1)


def test_parts_do_not_meet():
    whole = dist.HashStore()
    one = dist.PrefixStore("a", whole)
    two = dist.PrefixStore("b", whole)
    one.set("k", "1")
    two.set("k", "2")
    assert one.get("k") == b"1"
    assert whole.get("b/k") == b"2"
    assert one.underlying_store.num_keys() == 2


COUNT = """
import hotaru.distributed as dist, sys
{make}
for _ in range(200):
    store.add("sum", 1)
    store.append("text", "x")
store.add("done", 1)
"""


def processes(make: str, number: int = 3) -> None:
    code = COUNT.format(make=make)
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(number)]
    assert [p.wait(120) for p in running] == [0] * number


def test_processes_count_together_over_tcp():
    store = tcp()
    processes(
        f"store = dist.TCPStore('127.0.0.1', {store.port}, wait_for_workers=False)"
    )
    assert store.get("sum") == b"600"
    assert store.get("text") == b"x" * 600


def test_processes_count_together_in_a_file(tmp_path):
    path = tmp_path / "store"
    store = dist.FileStore(str(path), 4)
    assert store.path == str(path)
    processes(f"store = dist.FileStore({str(path)!r}, 4)")
    assert store.get("sum") == b"600"
    assert store.get("text") == b"x" * 600
    assert path.exists()
    del store
    assert not path.exists()  # the last one takes it away


def test_what_a_killed_writer_left_is_cut_off(tmp_path):
    path = tmp_path / "store"
    store = dist.FileStore(str(path))
    store.set("k", "v")
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(struct.pack("<Q", 3) + b"ke")
    assert store.get("k") == b"v"
    assert path.stat().st_size == size
    store.set("key", "whole")
    assert dist.FileStore(str(path)).get("key") == b"whole"


def test_another_file_is_no_store(tmp_path):
    path = tmp_path / "text"
    path.write_text("a letter to somebody else")
    with pytest.raises(dist.DistStoreError, match="no store"):
        dist.FileStore(str(path))
    assert path.read_text() == "a letter to somebody else"


def test_a_master_waits_for_its_workers():
    port = tcp().port  # free again
    made = []

    def master():
        made.append(dist.TCPStore("127.0.0.1", port, 2, True))

    waiting = threading.Thread(target=master)
    waiting.start()
    dist.TCPStore("127.0.0.1", port, 2, False)
    waiting.join(60)
    assert made
    with pytest.raises(dist.DistStoreError, match="1/2 clients joined"):
        dist.TCPStore("127.0.0.1", 0, 2, True, timeout=SHORT)


def test_a_port_that_is_taken():
    alone = tcp()
    for shared in (False, True):
        with pytest.raises(dist.DistNetworkError, match=f"port: {alone.port}"):
            tcp(port=alone.port, multi_tenant=shared)
    first = tcp(multi_tenant=True)
    second = tcp(port=first.port, multi_tenant=True)
    second.set("k", "v")
    assert first.get("k") == b"v"
    # The server lives as long as one of those who share it.
    port = first.port
    del first
    assert tcp(port=port, multi_tenant=True).get("k") == b"v"
    with pytest.raises(dist.DistNetworkError, match=f"port: {port}"):
        tcp(port=port)


def test_rank_0_does_not_join_the_store_of_another_process():
    served = tcp(multi_tenant=True)
    served.set("mine", "1")
    code = (
        "import hotaru.distributed as dist\n"
        "try: dist.init_process_group('gloo', rank=0, world_size=1,"
        f" init_method='tcp://127.0.0.1:{served.port}')\n"
        "except dist.DistNetworkError: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stderr
    # A child that was forked has its parent's table, not its server.
    child = os.fork()
    if child == 0:
        try:
            tcp(port=served.port, multi_tenant=True)
        except dist.DistNetworkError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_nobody_listens():
    port = tcp().port
    with pytest.raises(dist.DistNetworkError, match="timed out after 80ms"):
        dist.TCPStore("127.0.0.1", port, timeout=SHORT)
    with pytest.raises(dist.DistNetworkError, match="cannot be resolved"):
        dist.TCPStore("no such host", 1, timeout=SHORT)


def test_only_the_address_that_was_asked_for():
    store = dist.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", store.port), 5)


def test_a_server_that_is_killed():
    code = (
        "import hotaru.distributed as dist, signal\n"
        "s = dist.TCPStore('127.0.0.1', 0, is_master=True)\n"
        "print(s.port, flush=True)\n"
        "signal.pause()\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )
    port = int(server.stdout.readline())
    store = dist.TCPStore("127.0.0.1", port, wait_for_workers=False)
    killed = threading.Thread(target=lambda: os.kill(server.pid, signal.SIGKILL))
    killed.start()
    with pytest.raises(dist.DistNetworkError, match="server shutdown or crash"):
        store.get("never")
    with pytest.raises(dist.DistNetworkError, match="given up"):
        store.num_keys()
    killed.join()
    server.wait()


# Bytes that PyTorch 2.13's client sends, and what its server answers.
HELLO = bytes.fromhex("00cef7853c0d52760000")
EXCHANGE = [
    ("0102000000000000002f6b030000000000000076616c", ""),
    ("06010000000000000002000000000000002f6b", "00"),
    ("0302000000000000002f6b", "030000000000000076616c"),
    ("0402000000000000002f6e0300000000000000", "0300000000000000"),
    ("05020000000000000002000000000000002f6b02000000000000002f71", "01"),
    ("06010000000000000003000000000000002f7a7a", ""),
    ("0c", "01"),
    (
        "0202000000000000002f6b030000000000000076616c03000000000000006e6577",
        "03000000000000006e6577",
    ),
    ("0802000000000000002f6b", "0100000000000000"),
    ("07", "0100000000000000"),
    ("0902000000000000002f61030000000000000078797a", ""),
    (
        "0b020000000000000002000000000000002f70010000000000000031"
        "02000000000000002f7102000000000000003232",
        "",
    ),
    (
        "0a020000000000000002000000000000002f7002000000000000002f71",
        "01000000000000003102000000000000003232",
    ),
]


def exactly(peer, count: int) -> bytes:
    """As many bytes; fewer where the other side hung up."""
    got = b""
    while len(got) < count:
        more = peer.recv(count - len(got))
        if not more:
            break
        got += more
    return got


def calls(store):
    """The calls that make PyTorch's client send these messages."""
    store.set("k", "val")
    assert store.get("k") == b"val"
    assert store.add("n", 3) == 3
    assert not store.check(["k", "q"])
    with pytest.raises(dist.DistStoreError, match="/zz"):
        store.wait(["zz"], SHORT)
    assert store.compare_set("k", "val", "new") == b"new"
    assert store.delete_key("k")
    assert store.num_keys() == 1
    store.append("a", "xyz")


def test_the_server_answers_pytorchs_client():
    store = tcp()
    with socket.create_connection(("127.0.0.1", store.port)) as peer:
        peer.settimeout(60)
        # In pieces, as a network may bring them.
        for byte in HELLO:
            peer.sendall(bytes([byte]))
        assert exactly(peer, 4) == HELLO[6:]
        for sent, answer in EXCHANGE:
            peer.sendall(bytes.fromhex(sent))
            wanted = bytes.fromhex(answer)
            if wanted:
                got = exactly(peer, len(wanted))
                assert got == wanted, sent
    assert store.get("q") == b"22"


def test_the_client_talks_as_pytorchs_does():
    wrong = []

    def serve(listener):
        peer, _ = listener.accept()
        with peer:
            peer.settimeout(60)
            hello = exactly(peer, 10)
            if hello[:6] != HELLO[:6]:
                wrong.append(hello)
            peer.sendall(hello[6:])
            for sent, answer in EXCHANGE[:11]:
                wanted = bytes.fromhex(sent)
                got = exactly(peer, len(wanted))
                if got != wanted:
                    wrong.append((sent, got.hex()))
                    return
                peer.sendall(bytes.fromhex(answer))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, args=(listener,))
        server.start()
        calls(
            dist.TCPStore(
                "127.0.0.1", listener.getsockname()[1], wait_for_workers=False
            )
        )
        server.join(60)
    assert not wrong


@pytest.mark.parametrize(
    "message",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        HELLO[:5] + b"\xff" * 9,
        HELLO + b"\xee",
        HELLO + b"\x01" + b"\xff" * 8,
        HELLO + b"\x06" + struct.pack("<Q", 1 << 60),
        HELLO + b"\x03" + struct.pack("<Q", 2) + b"/x",
        HELLO + b"\x01" + struct.pack("<Q", 2) + b"/k" + b"\xff" * 8,
    ],
    ids=["http", "hello", "query", "length", "keys", "missing", "value"],
)
def test_what_is_no_message_is_hung_up_on(message):
    store = tcp()
    with socket.create_connection(("127.0.0.1", store.port)) as peer:
        peer.settimeout(60)
        peer.sendall(message)
        while peer.recv(4096):  # until it hangs up
            pass
    store.set("k", "v")
    assert store.get("k") == b"v"


def test_what_is_no_store_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            peer, _ = listener.accept()
            with peer:
                peer.sendall(b"220 mail.example.org\r\n")
                with contextlib.suppress(ConnectionResetError):
                    while peer.recv(4096):
                        pass

        server = threading.Thread(target=serve)
        server.start()
        with pytest.raises(dist.DistNetworkError, match="is no store"):
            dist.TCPStore("127.0.0.1", listener.getsockname()[1])
        server.join(60)


def test_values_that_are_too_long():
    store = tcp()
    store.set("k", b"x" * (8 << 20))
    assert len(store.get("k")) == 8 << 20
    with pytest.raises(ValueError, match="at most 8388608 bytes"):
        store.set("k", b"x" * ((8 << 20) + 1))
    with pytest.raises(ValueError, match="key is at most 8191 bytes"):
        store.set("k" * 8192, "")


def test_clones_are_of_the_stores_class(tmp_path):
    tcp = dist.TCPStore("127.0.0.1", 0, 1, True, use_libuv=False)
    for store in (
        tcp,
        dist.FileStore(str(tmp_path / "store"), 1),
        dist.HashStore(),
        dist.PrefixStore("p", tcp),
    ):
        copy = store.clone()
        assert type(copy) is type(store)
        copy.set("key", "value")
        assert store.get("key") == b"value"
    assert tcp.clone().port == tcp.port
    assert tcp.clone().libuvBackend is False
