"""A value of one process, or of all, in every one, with its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .groups import get_global_rank
from .objects import all_gather_object, broadcast_object_list

__all__ = ["SyncPayload", "all_gather", "broadcast"]


@dataclass
class SyncPayload:
    """Message that a process sends: a value, or what went wrong."""

    stage_name: str | None
    success: bool
    payload: Any
    exception: Exception | None = None


def _payload_of(given, stage_name: str | None, success: bool) -> SyncPayload:
    made = SyncPayload(stage_name, success, given)
    if callable(given):
        try:
            made.payload = given()
        except Exception as error:
            made.success, made.payload = False, None
            made.exception = error
    return made


def broadcast(
    data_or_fn: Any | Callable[[], Any],
    *,
    success: bool = True,
    stage_name: str | None = None,
    rank: int = 0,
    pg=None,
) -> Any:
    """The value of one rank of a group, or what its function returns.

    Without a group rank 0's, which is this process's.

    Raises:
        AssertionError: a value, and `success` False.
        RuntimeError: in all, if that rank failed.
    """
    if not success and data_or_fn is not None:
        raise AssertionError(
            "Data or Function is expected to be None if not successful"
        )
    mine = rank == 0 if pg is None else pg.rank() == rank
    sent = [_payload_of(data_or_fn if mine else None, stage_name, success)]
    if pg is not None:
        broadcast_object_list(sent, src=get_global_rank(pg, rank), group=pg)
    found = sent[0]
    if not found.success:
        text = f"Rank {rank} failed"
        if stage_name is not None:
            text += f": stage {found.stage_name}"
        if found.exception is not None:
            text += f": exception {found.exception}"
        raise RuntimeError(text) from found.exception
    return found.payload


def all_gather(
    data_or_fn: Any | Callable[[], Any], stage_name: str | None = None, pg=None
) -> list:
    """Gathers the values of all ranks.

    Raises:
        RuntimeError: in all, if one failed, or is at another stage.
    """
    own = _payload_of(data_or_fn, stage_name, True)
    found = [own]
    if pg is not None:
        found = [None] * pg.size()
        all_gather_object(found, own, pg)
    values = []
    for i, each in enumerate(found):
        if each.stage_name != stage_name:
            raise RuntimeError(
                f"Unexpected stage name received from rank {i}: {each.stage_name} "
            )
        if not each.success:
            raise RuntimeError(
                f"Rank {i} failed: exception {each.exception}"
            ) from each.exception
        values.append(each.payload)
    return values
