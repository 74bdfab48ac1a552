"""`torch.nn.modules.utils` as compiled code sees it: numbers become lists."""

from __future__ import annotations

from ..annotations import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
)


def _single(x: BroadcastingList1[int]) -> list[int]:
    return x


def _single_float(x: BroadcastingList1[float]) -> list[float]:
    return x


def _pair(x: BroadcastingList2[int]) -> list[int]:
    return x


def _pair_float(x: BroadcastingList2[float]) -> list[float]:
    return x


def _triple(x: BroadcastingList3[int]) -> list[int]:
    return x


def _triple_float(x: BroadcastingList3[float]) -> list[float]:
    return x


def _quadruple(x: BroadcastingList4[int]) -> list[int]:
    return x


def _quadruple_float(x: BroadcastingList4[float]) -> list[float]:
    return x


def _list_with_default(out_size: list[int], defaults: list[int]) -> list[int]:
    assert len(defaults) > len(out_size)
    return out_size


OVERLOADS = {
    "_single": (_single, _single_float),
    "_pair": (_pair, _pair_float),
    "_triple": (_triple, _triple_float),
    "_quadruple": (_quadruple, _quadruple_float),
    "_list_with_default": (_list_with_default,),
}
