"""A pass: something that is done to a graph."""

from __future__ import annotations

import abc
import typing

from ..._compatibility import compatibility
from ...graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


@compatibility(is_backward_compatible=False)
class PassResult(typing.NamedTuple):
    """The module, and whether the pass changed it."""

    graph_module: GraphModule
    modified: bool


@compatibility(is_backward_compatible=False)
class PassBase(abc.ABC):
    """Subclasses define `call`; `requires` and `ensures` check around it."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Does it."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises where the graph is not fit for the pass."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises where the pass did not do what it should."""
