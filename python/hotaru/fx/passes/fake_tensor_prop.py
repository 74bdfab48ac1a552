"""Shapes of a graph's values, found by running it with fake tensors."""

from __future__ import annotations

from ... import Tensor
from ..._subclasses.fake_tensor import FakeTensorMode
from .._compatibility import compatibility
from ..interpreter import Interpreter
from ..node import Node, map_aggregate
from .shape_prop import _extract_tensor_metadata

__all__ = ["FakeTensorProp"]


@compatibility(is_backward_compatible=False)
class FakeTensorProp(Interpreter):
    """Runs a graph under a fake mode; nodes get `meta["val"]`, the fake
    tensors (and numbers), and `meta["tensor_meta"]`.

    Args:
        module: a GraphModule, or a module with a graph given.
        mode: the FakeTensorMode, else one of its own.
    """

    def __init__(self, module, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode() if mode is None else mode

    def run_node(self, n: Node):
        result = super().run_node(n)
        n.meta["val"] = result
        if any(isinstance(x, Tensor) for x in _leaves(result)):
            n.meta["tensor_meta"] = map_aggregate(
                result,
                lambda x: _extract_tensor_metadata(x) if isinstance(x, Tensor) else x,
            )
        return result

    def propagate(self, *args):
        """Runs it with arguments as fake tensors; returns the result."""
        fakes = [
            self._mode.from_tensor(x) if isinstance(x, Tensor) else x for x in args
        ]
        return self.propagate_dont_convert_inputs(*fakes)

    def propagate_dont_convert_inputs(self, *args):
        """The same of arguments that are fake already."""
        with self._mode:
            return super().run(*args)


def _leaves(value) -> list:
    found: list = []
    map_aggregate(value, found.append)
    return found
