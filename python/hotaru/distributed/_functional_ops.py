"""Collectives as operators: `torch.ops._c10d_functional`, which name a group,
and the older `torch.ops.c10d_functional`, which name its ranks.
"""

from __future__ import annotations

from .._library.definitions import Library
from . import _functional_collectives as functional
from . import groups

_BY_NAME = {
    "broadcast(Tensor input, int src, str group_name) -> Tensor": (
        lambda x, src, name: functional.broadcast(x, src, groups.by_name(name))
    ),
    "all_reduce(Tensor input, str reduce_op, str group_name) -> Tensor": (
        lambda x, op, name: functional.all_reduce(x, op, groups.by_name(name))
    ),
    "all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor": (
        lambda x, size, name: functional.all_gather_tensor(x, 0, groups.by_name(name))
    ),
    "reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str "
    "group_name) -> Tensor": (
        lambda x, op, size, name: functional.reduce_scatter_tensor(
            x, op, 0, groups.by_name(name)
        )
    ),
    "all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] "
    "input_split_sizes, str group_name) -> Tensor": (
        lambda x, out, into, name: functional.all_to_all_single(
            x, out, into, groups.by_name(name)
        )
    ),
    "wait_tensor(Tensor tensor) -> Tensor": functional.wait_tensor,
}
_BY_RANKS = {
    "broadcast(Tensor self, int src, str tag, int[] ranks, int group_size) -> Tensor": (
        lambda x, src, tag, ranks, size: functional.broadcast(x, src, list(ranks))
    ),
    "all_reduce(Tensor self, str reduceOp, str tag, int[] ranks, int "
    "group_size) -> Tensor": (
        lambda x, op, tag, ranks, size: functional.all_reduce(x, op, list(ranks))
    ),
    "all_gather_into_tensor(Tensor shard, str tag, int[] ranks, int "
    "group_size) -> Tensor": (
        lambda x, tag, ranks, size: functional.all_gather_tensor(x, 0, list(ranks))
    ),
    "reduce_scatter_tensor(Tensor input, str reduceOp, str tag, int[] ranks, "
    "int group_size) -> Tensor": (
        lambda x, op, tag, ranks, size: functional.reduce_scatter_tensor(
            x, op, 0, list(ranks)
        )
    ),
    "all_to_all_single(Tensor input, SymInt[]? output_split_sizes, SymInt[]? "
    "input_split_sizes, str tag, int[] ranks, int group_size) -> Tensor": (
        lambda x, out, into, tag, ranks, size: functional.all_to_all_single(
            x, out, into, list(ranks)
        )
    ),
    "wait_tensor(Tensor self) -> Tensor": functional.wait_tensor,
}

_libraries: list[Library] = []


def install() -> None:
    """Declares the operators; does nothing the second time."""
    if _libraries:
        return
    for space, table in (
        ("_c10d_functional", _BY_NAME),
        ("c10d_functional", _BY_RANKS),
    ):
        library = Library(space, "DEF")
        _libraries.append(library)
        for schema, kernel in table.items():
            library.define(schema)
            library.impl(schema.partition("(")[0], kernel, "CompositeExplicitAutograd")
