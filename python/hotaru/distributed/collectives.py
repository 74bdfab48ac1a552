"""Collectives in a group of one process: what one process gives itself.

Every one works in place where PyTorch's does, and with `async_op` gives a
`Work` that is done.
"""

from __future__ import annotations

import pickle

from .. import no_grad
from ..futures import Future
from .groups import ReduceOp, is_member


class Work:
    """A collective that is done."""

    def __init__(self, result=None) -> None:
        self._result = result

    def wait(self, timeout=None) -> bool:
        """True, at once."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    def is_success(self) -> bool:
        """True."""
        return True

    def exception(self):
        """None."""
        return

    def result(self) -> list:
        """The tensors that were written."""
        return self._result

    def get_future(self) -> Future:
        """A future that holds the result."""
        future = Future()
        future.set_result(self._result)
        return future


def _done(group, async_op: bool, *written):
    """None outside of the group, and where the caller does not wait later."""
    return Work(list(written)) if async_op and is_member(group) else None


def _root(group, rank, group_rank, what: str) -> None:
    if rank is not None and group_rank is not None:
        raise ValueError(f"Can't specify both group_{what} and {what}")
    rank = rank if rank is not None else group_rank
    if is_member(group) and rank not in (None, 0):
        raise ValueError(f"{what}={rank} is not a rank in a world of one")


def _one(tensors, what: str):
    if len(tensors) != 1:
        raise ValueError(
            f"{what}: a list of {len(tensors)} tensors in a group of one"
        )
    return tensors[0]


@no_grad()
def _copy(target, source) -> None:
    target.copy_(source.reshape(target.shape))


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op: bool = False):
    """Leaves the tensor as it is."""
    is_member(group)
    return _done(group, async_op, tensor)


def all_reduce_coalesced(
    tensors, op=ReduceOp.SUM, group=None, async_op: bool = False
):
    """Leaves the tensors as they are."""
    is_member(group)
    return _done(group, async_op, *tensors)


def reduce(
    tensor, dst=None, op=ReduceOp.SUM, group=None, async_op: bool = False,
    group_dst=None,
):  # fmt: skip
    """Leaves the tensor as it is."""
    _root(group, dst, group_dst, "dst")
    return _done(group, async_op, tensor)


def broadcast(
    tensor, src=None, group=None, async_op: bool = False, group_src=None
):
    """Leaves the tensor as it is."""
    _root(group, src, group_src, "src")
    return _done(group, async_op, tensor)


def all_gather(tensor_list, tensor, group=None, async_op: bool = False):
    """Copies the tensor into the list's one."""
    if is_member(group):
        _copy(_one(tensor_list, "all_gather"), tensor)
    return _done(group, async_op, *tensor_list)


def all_gather_into_tensor(
    output_tensor, input_tensor, group=None, async_op: bool = False
):
    """Copies one tensor into the other."""
    if is_member(group):
        _copy(output_tensor, input_tensor)
    return _done(group, async_op, output_tensor)


def gather(
    tensor, gather_list=None, dst=None, group=None, async_op: bool = False,
    group_dst=None,
):  # fmt: skip
    """Copies the tensor into the list's one."""
    _root(group, dst, group_dst, "dst")
    if is_member(group):
        if not gather_list:
            raise ValueError(
                "Argument ``gather_list`` must be specified on destination "
                "rank."
            )
        _copy(_one(gather_list, "gather"), tensor)
    return _done(group, async_op, *(gather_list or ()))


def scatter(
    tensor, scatter_list=None, src=None, group=None, async_op: bool = False,
    group_src=None,
):  # fmt: skip
    """Copies the list's one tensor into the other."""
    _root(group, src, group_src, "src")
    if is_member(group):
        if not scatter_list:
            raise ValueError(
                "Argument ``scatter_list`` must be specified on source rank."
            )
        _copy(tensor, _one(scatter_list, "scatter"))
    return _done(group, async_op, tensor)


def reduce_scatter(
    output, input_list, op=ReduceOp.SUM, group=None, async_op: bool = False
):
    """Copies the list's one tensor into the output."""
    if is_member(group):
        _copy(output, _one(input_list, "reduce_scatter"))
    return _done(group, async_op, output)


def reduce_scatter_tensor(
    output, input, op=ReduceOp.SUM, group=None, async_op: bool = False
):
    """Copies the input into the output."""
    if is_member(group):
        _copy(output, input)
    return _done(group, async_op, output)


def all_to_all(
    output_tensor_list, input_tensor_list, group=None, async_op: bool = False
):
    """Copies the one input into the one output."""
    if is_member(group):
        _copy(
            _one(output_tensor_list, "all_to_all"),
            _one(input_tensor_list, "all_to_all"),
        )
    return _done(group, async_op, *output_tensor_list)


def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None,
    group=None, async_op: bool = False,
):  # fmt: skip
    """Copies the input into the output."""
    if is_member(group):
        _copy(output, input)
    return _done(group, async_op, output)


def barrier(group=None, async_op: bool = False, device_ids=None, timeout=None):
    """Waits for nobody."""
    is_member(group)
    return _done(group, async_op)


def monitored_barrier(
    group=None, timeout=None, wait_all_ranks: bool = False
) -> None:
    """Waits for nobody."""
    is_member(group)


def _received(value):
    """What another process would get: a copy."""
    return pickle.loads(pickle.dumps(value))


def all_gather_object(object_list: list, obj, group=None) -> None:
    """Puts a copy of the object into the list."""
    if is_member(group):
        object_list[0] = _received(obj)


def gather_object(
    obj, object_gather_list=None, dst=None, group=None, group_dst=None
) -> None:
    """Puts a copy of the object into the list."""
    _root(group, dst, group_dst, "dst")
    if is_member(group):
        if object_gather_list is None:
            raise ValueError(
                "Argument ``object_gather_list`` must be specified on "
                "destination rank."
            )
        object_gather_list[0] = _received(obj)


def broadcast_object_list(
    object_list: list, src=None, group=None, device=None, group_src=None
) -> None:
    """Leaves the objects as they are: this process has sent them."""
    _root(group, src, group_src, "src")


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None = None,
    src=None,
    group=None,
    group_src=None,
) -> None:
    """Puts a copy of the one object into the output."""
    _root(group, src, group_src, "src")
    if is_member(group):
        given = _one(scatter_object_input_list or [], "scatter_object_list")
        scatter_object_output_list[0] = _received(given)


def _to_itself(what: str):
    raise ValueError(
        f"Invalid {what} rank: {what} rank should not be the same as the rank "
        "of the current process."
    )


def send(tensor, dst=None, group=None, tag: int = 0, group_dst=None) -> None:
    """Raises ValueError: a process sends nothing to itself."""
    _root(group, dst, group_dst, "dst")
    _to_itself("destination")


def isend(tensor, dst=None, group=None, tag: int = 0, group_dst=None):
    """Raises ValueError: a process sends nothing to itself."""
    send(tensor, dst, group, tag, group_dst)


def recv(tensor, src=None, group=None, tag: int = 0, group_src=None) -> int:
    """Raises ValueError: there is nobody to receive from."""
    _root(group, src, group_src, "src")
    _to_itself("source")


def irecv(tensor, src=None, group=None, tag: int = 0, group_src=None):
    """Raises ValueError: there is nobody to receive from."""
    recv(tensor, src, group, tag, group_src)
