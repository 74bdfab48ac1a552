"""Shapes of a graph's values, found by running it."""

from __future__ import annotations

import typing

import hotaru

from ... import Tensor
from .._compatibility import compatibility
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


@compatibility(is_backward_compatible=True)
class TensorMetadata(typing.NamedTuple):
    """Properties of a tensor that are known without its values."""

    shape: hotaru.Size
    dtype: hotaru.dtype
    requires_grad: bool
    stride: tuple
    memory_format: object
    is_quantized: bool
    qparams: dict


_FORMATS = (hotaru.contiguous_format, hotaru.channels_last, hotaru.channels_last_3d)


def _extract_tensor_metadata(
    result: Tensor, include_contiguity: bool = True
) -> TensorMetadata:
    memory_format = None
    if include_contiguity:
        memory_format = next((f for f in _FORMATS if _has_format(result, f)), None)
    return TensorMetadata(
        result.shape,
        result.dtype,
        result.requires_grad,
        result.stride(),
        memory_format,
        False,
        {},
    )


def _has_format(tensor: Tensor, memory_format) -> bool:
    ranks = {hotaru.channels_last: 4, hotaru.channels_last_3d: 5}
    if ranks.get(memory_format, tensor.dim()) != tensor.dim():
        return False
    return tensor.is_contiguous(memory_format=memory_format)


@compatibility(is_backward_compatible=True)
class ShapeProp(Interpreter):
    """Runs a graph and keeps `meta["tensor_meta"]` and `meta["type"]`."""

    def run_node(self, n: Node):
        result = super().run_node(n)
        found = False

        def describe(value):
            nonlocal found
            if isinstance(value, Tensor):
                found = True
                return _extract_tensor_metadata(value)
            return value

        meta = map_aggregate(result, describe)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """The graph's result for these inputs."""
        return super().run(*args)
