"""Tensors of GPUs by NCCL: ranks are processes, each with a GPU in software,
and shared memory stands in NCCL's place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("nccl_program.py")


def begin(place, ranks: int, scenario: str, seconds: float) -> list:
    """The processes of a world."""
    soft = {
        "HOTARU_CUDA_DRIVER": f"soft:{ranks}",
        "HOTARU_CUDA_LIBRARIES": "soft:nccl",
        "PLACE": f"file://{place}/store",
        "WORLD_SIZE": str(ranks),
        "TIMEOUT_S": str(seconds),
    }
    return [
        subprocess.Popen(
            [sys.executable, PROGRAM, scenario],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | soft | {"RANK": str(rank)},
        )
        for rank in range(ranks)
    ]


def outputs(processes: list, last: int | None = None) -> list[tuple]:
    """Collects of each rank its status, what it printed and its errors; `last`
    is one that waits until the others have ended.
    """
    order = [p for i, p in enumerate(processes) if i != last]
    order += [] if last is None else [processes[last]]
    found = {p: (*p.communicate(timeout=120), p.returncode) for p in order}
    return [(found[p][2], found[p][0], found[p][1]) for p in processes]


SCENARIOS = (
    "reductions",
    "movements",
    "messages",
    "order",
    "captured",
    "data_parallel",
    "sharded",
    "tensor_parallel",
    "groups",
    "chosen_by_mesh",
    "captured_step",
    "at_once",
)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_ranks_with_a_gpu_each(tmp_path, scenario, ranks):
    found = outputs(begin(tmp_path, ranks, scenario, 60))
    assert [status for status, *_ in found] == [0] * ranks, found


FAULTS = {
    "killed": "all_reduce(SUM) of 4 float32, collective 2 of group "
    "'0/devices' on rank 0: rank 1 is gone",
    "left": "rank 1 is gone",
    "mismatched": "is all_reduce(SUM) of 5 float32 on rank 1 and "
    "all_reduce(SUM) of 4 float32 on rank 0",
    "reordered": "is broadcast of 4 float32, root 0 on rank 0 and "
    "all_reduce(SUM) of 4 float32 on rank 1",
    "hung": "Timed out waiting 3000ms for all_reduce(SUM) of 4 float32, "
    "collective 2 of group '0/devices' on rank 0; not heard of: rank 1",
    "unanswered": "connecting cuda:0 with rank 1, which call a collective for that: ",
}


@pytest.mark.parametrize("scenario", FAULTS)
def test_a_rank_that_does_something_else_is_named(tmp_path, scenario):
    waits = 1 if scenario in ("hung", "unanswered") else None
    seconds = 3 if waits is not None else 60
    found = outputs(begin(tmp_path, 2, scenario, seconds), waits)
    status, out, errors = found[0]
    assert status == 0, errors
    said, again = out.strip().split("\n")
    words = FAULTS[scenario]
    # Either rank may be the one that found it.
    ours, _, theirs = words.removeprefix("is ").partition(" and ")
    assert words in said or f"is {theirs} and {ours}" in said
    assert again == "and then again"
    # Half a second and a second on a quiet machine; here others compute, too.
    assert float(said.partition(" s: ")[0]) < 15, said
    if scenario in ("mismatched", "reordered"):
        assert "Detected mismatch" in found[1][1]


def test_without_a_gpu_or_the_library_it_is_refused(tmp_path):
    code = """
import hotaru.distributed as dist
print(dist.is_nccl_available(), dist.is_backend_available("nccl"))
try:
    store = dist.HashStore()
    dist.init_process_group("nccl", store=store, rank=0, world_size=1)
except RuntimeError as error:
    print(error)
"""
    for driver, words in (
        ("/nowhere/libcuda.so", "only supported with GPUs, no GPUs found"),
        ("soft", "NCCL is not found"),
    ):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env=os.environ
            | {"HOTARU_CUDA_DRIVER": driver, "HOTARU_CUDA_LIBRARIES": ""},
        )
        available, said = run.stdout.strip().split("\n", 1)
        assert available == "False False"
        assert words in said
