"""Types that only compiled code knows."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]


class _BroadcastingList:
    """`BroadcastingList2[int]`: a list of two ints, or one int for both."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __getitem__(self, item):
        return list[item] | item


BroadcastingList1 = _BroadcastingList(1)
BroadcastingList2 = _BroadcastingList(2)
BroadcastingList3 = _BroadcastingList(3)
BroadcastingList4 = _BroadcastingList(4)
BroadcastingList5 = _BroadcastingList(5)
BroadcastingList6 = _BroadcastingList(6)
