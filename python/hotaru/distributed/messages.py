"""Messages between two processes."""

from __future__ import annotations

from .._C import _CollectiveKind as Kind
from .collectives import _check_tensor, _group_of, root_of
from .work import Work

_ANY = -1


def _issue(
    kind, tensor, rank, group, tag: int, group_rank, name: str, async_op: bool
) -> Work | None:
    _check_tensor(tensor, "tensor")
    found = _group_of(group, name)
    if found is None:
        return None
    sends = kind is Kind.SEND
    if rank is None and group_rank is None and not sends:
        other = _ANY
    else:
        other = root_of(found, rank, group_rank)
    if other == found.rank():
        which = "destination" if sends else "source"
        raise ValueError(
            f"Invalid {which} rank: {which} rank should not be the same as the "
            "rank of the current process."
        )
    return found._issue(
        kind,
        (tensor,) if sends else (),
        () if sends else (tensor,),
        root=other,
        tag=tag,
        async_op=async_op,
        result=[tensor],
    )


def isend(tensor, dst=None, group=None, tag: int = 0, group_dst=None):
    """Begins to send to a rank."""
    return _issue(Kind.SEND, tensor, dst, group, tag, group_dst, "isend", True)


def irecv(tensor, src=None, group=None, tag: int = 0, group_src=None):
    """Begins to receive: from a rank, or from whoever sends first."""
    return _issue(Kind.RECEIVE, tensor, src, group, tag, group_src, "irecv", True)


def send(tensor, dst=None, group=None, tag: int = 0, group_dst=None) -> None:
    """Sends to a rank; short messages leave before they are received."""
    _issue(Kind.SEND, tensor, dst, group, tag, group_dst, "send", False)


def recv(tensor, src=None, group=None, tag: int = 0, group_src=None) -> int:
    """Receives; the rank in the world of who sent, -1 outside of the group."""
    work = _issue(Kind.RECEIVE, tensor, src, group, tag, group_src, "recv", False)
    if work is None:
        return -1
    for event in work._after:
        event.synchronize()
    found = _group_of(group, "recv")
    return found._handle.ranks[work.source_rank()]


class P2POp:
    """A message for `batch_isend_irecv`: `op` is `isend` or `irecv`."""

    def __init__(
        self, op, tensor, peer=None, group=None, tag: int = 0, group_peer=None
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type "
                "``torch.distributed.isend`` or ``torch.distributed.irecv``."
            )
        _check_tensor(tensor, "tensor")
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = group
        found = _group_of(group, "P2POp")
        if found is not None:
            self.group_peer = root_of(found, peer, group_peer)
            self.peer = found._handle.ranks[self.group_peer]

    def __repr__(self) -> str:
        """`P2POp(isend to 1, torch.Size([2]))`."""
        way = "to" if self.op is isend else "from"
        return f"P2POp({self.op.__name__} {way} {self.peer}, {self.tensor.shape})"


def batch_isend_irecv(p2p_op_list) -> list[Work]:
    """Begins all of several messages.

    Raises:
        ValueError, RuntimeError: the list is empty, or its entries are not of
            one group.
    """
    if not isinstance(p2p_op_list, list) or not all(
        isinstance(op, P2POp) for op in p2p_op_list
    ):
        raise ValueError(
            "Invalid ``p2p_op_list``. "
            "Each op is expected to to be of type ``torch.distributed.P2POp``."
        )
    if not p2p_op_list:
        raise ValueError("Invalid ``p2p_op_list``: it is empty")
    if any(op.group is not p2p_op_list[0].group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    group = _group_of(p2p_op_list[0].group, "batch_isend_irecv")
    first = p2p_op_list[0].tensor
    if group is not None and first.is_cuda and not group._by_host([first]):
        return [_together(group, p2p_op_list)]
    works = [
        op.op(op.tensor, group=op.group, tag=op.tag, **_peer(op)) for op in p2p_op_list
    ]
    return [work for work in works if work is not None]


def _peer(op: P2POp) -> dict[str, int]:
    return {"group_dst" if op.op is isend else "group_src": op.group_peer}


def _together(group, ops: list[P2POp]) -> Work:
    """On a GPU, where none of them may wait for another one."""
    sent = [op for op in ops if op.op is isend]
    received = [op for op in ops if op.op is irecv]
    return group._issue(
        Kind.EXCHANGE,
        [op.tensor for op in sent],
        [op.tensor for op in received],
        peers=[op.group_peer for op in (*sent, *received)],
        async_op=True,
    )
