"""Ranks that die or do something else at random: who is told what, and when.

$HOTARU_FAULT_RUNS (3) says how often, $HOTARU_FAULT_RANKS (12) among how many.
"""

from __future__ import annotations

import os
import random
import signal
import time
from datetime import timedelta

import hotaru.distributed as dist
import pytest

import hotaru

RUNS = int(os.environ.get("HOTARU_FAULT_RUNS", "3"))
RANKS = int(os.environ.get("HOTARU_FAULT_RANKS", "12"))


class Ranks:
    """Forked processes that run f(rank, group calls) until something fails."""

    def __init__(self, size: int, path: str, f) -> None:
        self.children = []
        for rank in range(size):
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(read)
                self._run(rank, size, path, f, write)
            os.close(write)
            self.children.append((pid, read))
        for _, read in self.children:
            assert os.read(read, 1) == b"+"

    def _run(self, rank, size, path, f, write) -> None:
        """In the child, which ends here, whatever happens."""
        try:
            signal.alarm(100)
            try:
                hotaru.set_num_threads(1)
                dist.init_process_group(
                    "gloo",
                    store=dist.FileStore(path, size),
                    rank=rank,
                    world_size=size,
                    timeout=timedelta(seconds=60),
                )
                os.write(write, b"+")
                f(rank, size)
            except BaseException as error:
                text = f"{time.time()}|{type(error).__name__}|{error}"
                os.write(write, text.encode()[:4000])
        finally:
            os._exit(0)

    def outcomes(self) -> list[tuple[float, str, str] | None]:
        """When each ended, by what; None for one that said nothing."""
        out = []
        for pid, read in self.children:
            with os.fdopen(read, "rb") as pipe:
                said = pipe.read().decode()
            os.waitpid(pid, 0)
            when, _, rest = said.partition("|")
            name, _, text = rest.partition("|")
            out.append((float(when), name, text) if said else None)
        return out


def collectives(rank: int, size: int) -> None:
    """All kinds, for ever."""
    x, y = hotaru.ones(50), hotaru.ones(20000)
    parts = [hotaru.empty(50) for _ in range(size)]
    while True:
        dist.all_reduce(x, dist.ReduceOp.AVG)
        dist.all_gather(parts, x)
        dist.broadcast(x, 0)
        dist.all_reduce(y, dist.ReduceOp.AVG, async_op=True).wait()
        dist.all_to_all(parts, parts)
        dist.barrier()


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_killed_rank_is_named_by_all_within_two_seconds(tmp_path, seed):
    chance = random.Random(seed)
    ranks = Ranks(RANKS, str(tmp_path / "store"), collectives)
    time.sleep(chance.uniform(0, 0.2))  # a moment of the run, not a wait
    victim = chance.randrange(RANKS)
    os.kill(ranks.children[victim][0], signal.SIGKILL)
    killed = time.time()
    for rank, outcome in enumerate(ranks.outcomes()):
        if rank == victim:
            assert outcome is None
            continue
        when, name, text = outcome
        assert name == "DistBackendError", (rank, text)
        assert f"rank {victim} is gone" in text, rank
        assert f"on rank {rank}" in text
        assert when - killed < 2


KINDS = {
    "all_reduce": lambda x, n: dist.all_reduce(x),
    "max": lambda x, n: dist.all_reduce(x, dist.ReduceOp.MAX),
    "broadcast": lambda x, n: dist.broadcast(x, 1),
    "reduce": lambda x, n: dist.reduce(x, 0),
    "gather": lambda x, n: dist.gather(
        x, None if dist.get_rank() else [hotaru.empty_like(x) for _ in range(n)]
    ),
    "all_gather": lambda x, n: dist.all_gather(
        [hotaru.empty_like(x) for _ in range(n)], x
    ),
    "all_to_all": lambda x, n: dist.all_to_all_single(hotaru.empty_like(x), x),
    "barrier": lambda x, n: dist.barrier(),
}


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_rank_that_does_something_else_is_told_by_all(tmp_path, seed):
    chance = random.Random(1000 + seed)
    odd, when = chance.randrange(RANKS), chance.randrange(30)
    kind, other = chance.sample(sorted(KINDS), 2)
    length = chance.choice([RANKS, 1000 * RANKS, 5000 * RANKS])
    longer = chance.random() < 0.3 and kind != "barrier"

    def f(rank, size):
        for i in range(40):
            differs = rank == odd and i == when
            what = other if differs and not longer else kind
            extra = RANKS if differs and longer else 0
            KINDS[what](hotaru.ones(length + extra), size)
        # Whoever was through before the others noticed is told here.
        for _ in range(3):
            dist.barrier()

    begin = time.time()
    for rank, outcome in enumerate(Ranks(RANKS, str(tmp_path / "s"), f).outcomes()):
        told = (rank, kind, other, odd, when, length, longer, outcome)
        assert outcome is not None, told
        assert outcome[1] == "DistBackendError", told
        assert outcome[0] - begin < 10, told


def test_a_rank_that_went_far_ahead_is_told_by_what_it_sent(tmp_path):
    def f(rank, size):
        for i in range(400):
            KINDS["gather" if rank == 3 and i == 2 else "reduce"](hotaru.ones(6), size)
        dist.barrier()

    begin = time.time()
    ranks = Ranks(6, str(tmp_path / "s"), f)
    for rank, (when, name, text) in enumerate(ranks.outcomes()):
        assert name == "DistBackendError", (rank, text)
        assert "rank 3 does something else than reduce(SUM)" in text, text
        assert when - begin < 10
