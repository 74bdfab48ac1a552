"""Options of a collective besides its tensors, by PyTorch's names."""

from __future__ import annotations

from datetime import timedelta

from .reduce_op import ReduceOp

_UNSET = timedelta(milliseconds=-1)


class _Options:
    """Attributes with their defaults; any may be set."""

    def __init__(self) -> None:
        self.timeout = _UNSET
        self.asyncOp = True


class AllreduceOptions(_Options):
    """reduceOp, sparseIndices."""

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp = ReduceOp.SUM
        self.sparseIndices = None


class AllreduceCoalescedOptions(AllreduceOptions):
    """As of all_reduce, for several tensors."""


class ReduceOptions(_Options):
    """reduceOp, and who gets the result."""

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp = ReduceOp.SUM
        self.rootRank = 0
        self.rootTensor = 0


class BroadcastOptions(_Options):
    """Who gives."""

    def __init__(self) -> None:
        super().__init__()
        self.rootRank = 0
        self.rootTensor = 0


class AllgatherOptions(_Options):
    """Nothing more."""


class GatherOptions(_Options):
    """Who gets."""

    def __init__(self) -> None:
        super().__init__()
        self.rootRank = 0


class ScatterOptions(GatherOptions):
    """Who gives."""


class ReduceScatterOptions(_Options):
    """reduceOp."""

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp = ReduceOp.SUM


class AllToAllOptions(_Options):
    """Nothing more."""


class BarrierOptions(_Options):
    """Devices are taken and not looked at: a barrier holds the process."""

    def __init__(self) -> None:
        super().__init__()
        self.device_ids = []
        self.device = None


def milliseconds(timeout: timedelta | None) -> int:
    """Milliseconds of a timeout; -1, the group's, where there is none.

    Raises:
        ValueError: it is zero.
    """
    if timeout is None or timeout == _UNSET:
        return -1
    count = round(timeout.total_seconds() * 1000)
    if count <= 0:
        raise ValueError(f"a timeout is positive, not {timeout}")
    return count
