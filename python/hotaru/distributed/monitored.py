"""A barrier that says who has not come."""

from __future__ import annotations

import time
from datetime import timedelta

from .. import zeros


def monitored_barrier(group, timeout: timedelta, wait_all_ranks: bool) -> None:
    """Returns when every process of the group has come.

    Rank 0 hears from each other one, and then answers all.

    Raises:
        RuntimeError: on rank 0, which ranks have not come; on the others, that
            rank 0 did not answer.
    """
    if group.rank() == 0:
        _hear_all(group, timeout, wait_all_ranks)
    else:
        _tell_first(group, timeout)


_TAG = 0x6D6F6E  # of its messages


def _hear_all(group, timeout: timedelta, wait_all_ranks: bool) -> None:
    others = range(1, group.size())
    deadline = time.monotonic() + timeout.total_seconds()
    coming = {rank: group.recv([zeros(1)], rank, _TAG) for rank in others}
    absent = []
    for rank, work in coming.items():
        left = max(deadline - time.monotonic(), 0.001)
        if work._handle.wait_for(timedelta(seconds=left)):
            continue
        absent.append(rank)
        if not wait_all_ranks:
            break
    if absent:
        who = "Rank" if len(absent) == 1 else "Ranks"
        text = (
            f"[Rank 0]: {who} {', '.join(map(str, absent))} failed to pass "
            f"monitoredBarrier in {round(timeout.total_seconds() * 1000)} ms"
        )
        group.shutdown()
        raise RuntimeError(text)
    for rank in others:
        group.send([zeros(1)], rank, _TAG).wait()


def _tell_first(group, timeout: timedelta) -> None:
    try:
        group.send([zeros(1)], 0, _TAG).wait()
        if group.recv([zeros(1)], 0, _TAG)._handle.wait_for(2 * timeout):
            return
        reason = "it did not answer in time"
    except RuntimeError as error:
        reason = str(error)
    raise RuntimeError(
        f"Rank {group.rank()} successfully reached monitoredBarrier, but "
        "received errors while waiting for send/recv from rank 0. Please check "
        f"rank 0 logs for faulty rank.\n Original exception: \n{reason}"
    )
