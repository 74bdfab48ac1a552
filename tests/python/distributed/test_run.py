"""The launcher, and PyTorch's way of starting processes itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

_SCRIPT = """
import os, sys
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
import torch

@record
def main():
    dist.init_process_group()
    x = torch.ones(1) * (dist.get_rank() + 1)
    dist.all_reduce(x)
    names = ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
             "TORCHELASTIC_RESTART_COUNT")
    where = [int(os.environ[name]) for name in names]
    sys.stdout.write(f"{dist.get_rank()} of {dist.get_world_size()} "
                     f"{x.item()} {where}\\n")
    sys.stdout.flush()
    dist.barrier()
    first = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    if "fail" in sys.argv and first and dist.get_rank() == 1:
        raise ValueError("a reason")
    if "hang" in sys.argv:
        import time
        while True:
            time.sleep(1)
    dist.destroy_process_group()

main()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(_SCRIPT)
    return str(path)


def launch(*args: str, **kwargs) -> subprocess.Popen:
    command = [sys.executable, "-m", "hotaru", "-m", "torch.distributed.run"]
    return subprocess.Popen(
        [*command, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **kwargs,
    )


def lines(text: str) -> list[str]:
    return sorted(text.splitlines())


def test_processes_of_one_machine(script):
    out, err = launch("--standalone", "--nproc-per-node=3", script).communicate(
        timeout=60
    )
    assert lines(out) == [
        "0 of 3 6.0 [0, 3, 0, 0]",
        "1 of 3 6.0 [1, 3, 0, 0]",
        "2 of 3 6.0 [2, 3, 0, 0]",
    ], err


def test_processes_of_two_machines(script, unused_port):
    where = [
        "--nnodes=2",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint=localhost:{unused_port}",
    ]
    one = launch(*where, "--nproc-per-node=2", script)
    two = launch(*where, "--rdzv-conf=is_host=0", script)
    printed = lines(one.communicate(timeout=60)[0] + two.communicate(timeout=60)[0])
    assert [line[:10] for line in printed] == ["0 of 3 6.0", "1 of 3 6.0", "2 of 3 6.0"]
    assert one.returncode == two.returncode == 0


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_machines_that_are_numbered(script, unused_port):
    where = ["--nnodes=2", "--master-addr=localhost"]
    where.append(f"--master-port={unused_port}")
    two = launch(*where, "--node-rank=1", script)
    one = launch(*where, "--node-rank=0", script)
    assert lines(one.communicate(timeout=60)[0]) == ["0 of 2 3.0 [0, 1, 0, 0]"]
    assert lines(two.communicate(timeout=60)[0]) == ["1 of 2 3.0 [0, 1, 1, 0]"]


def test_a_failure_is_told(script):
    process = launch("--standalone", "--nproc-per-node=2", script, "fail")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "rank 1 (local_rank 1" in err
    assert "exitcode 1: ValueError: a reason" in err


def test_all_are_started_again(script):
    process = launch(
        "--standalone", "--nproc-per-node=2", "--max-restarts=1", script, "fail"
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "0 of 2 3.0 [0, 2, 0, 1]" in out
    assert "Starting again; 0 more times" in err


def test_nothing_is_left_when_it_is_ended(script):
    process = launch(
        "--standalone", "--nproc-per-node=2", script, "hang", start_new_session=True
    )
    for _ in range(2):
        assert "of 2" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert "ended by SIGTERM" in err
    for _ in range(500):  # until the system has noticed, five seconds at most
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise AssertionError("a process is left")


def test_outputs_go_to_files(script, tmp_path):
    process = launch(
        "--standalone",
        "--nproc-per-node=2",
        "--redirects=3",
        "--tee=1:1",
        "--log-dir",
        str(tmp_path / "logs"),
        script,
    )
    out, err = process.communicate(timeout=60)
    assert lines(out) == ["[default1]:1 of 2 3.0 [1, 2, 0, 0]"], err
    found = sorted(tmp_path.glob("logs/*/attempt_0/*/stdout.log"))
    assert [path.read_text() for path in found] == [
        "0 of 2 3.0 [0, 2, 0, 0]\n",
        "1 of 2 3.0 [1, 2, 0, 0]\n",
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--nproc-per-node=0"], "at least 1"),
        (["--nproc-per-node=x"], "Unsupported nproc_per_node value: x"),
        (["--nnodes=3:2"], "no number and no MIN:MAX"),
        (["--rdzv-backend=etcd"], "there are static and c10d"),
        (["--redirects=4"], "outputs are 0 to 3"),
    ],
)
def test_options_that_mean_nothing(options, text):
    process = launch(*options, "program.py")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert text in err


_SPAWNS = """
import os
import torch, torch.distributed as dist, torch.multiprocessing as mp

def work(rank, size, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", port
    dist.init_process_group("gloo", rank=rank, world_size=size)
    x = torch.ones(2)
    dist.all_reduce(x)
    assert x.tolist() == [size, size]
    dist.destroy_process_group()

if __name__ == "__main__":
    import sys
    mp.spawn(work, (2, sys.argv[1]), nprocs=2)
    print("well")
"""


def test_spawned_processes(tmp_path, unused_port):
    path = tmp_path / "spawns.py"
    path.write_text(_SPAWNS)
    command = [sys.executable, "-m", "hotaru", str(path), str(unused_port)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "well\n", done.stderr
