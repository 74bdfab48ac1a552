"""Calls of operators, and the tables of ways to compute them from parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ... import is_grad_enabled
from ..._answering.names import writes
from ..._C import Tensor
from ...utils import _pytree
from .placement_types import Placement, Replicate

R = Replicate()


class Way(NamedTuple):
    """Placements along a dimension of the mesh: of the results (one for all
    of them, or one each) and of every tensor among the arguments.
    """

    out: Placement | tuple
    ins: tuple[Placement, ...]


class Rule(NamedTuple):
    """How an operator is computed from parts.

    `ways(call)` lists its ways for a dimension of the mesh; `local(call,
    parts, placements)` computes a result of the parts, where it is not just
    the operator of them.
    """

    ways: Callable[[Call], list[Way]]
    local: Callable | None = None


RULES: dict[str, Rule] = {}
# By name: functions of the whole call that answer it themselves.
COMPOSED: dict[str, Callable] = {}


def rule(names: str, ways: Callable, local: Callable | None = None) -> None:
    """Has these operators computed so."""
    for name in names.split():
        RULES[name] = Rule(ways, local)


def composed(names: str) -> Callable:
    """Makes a function the answer to these operators."""

    def register(function: Callable) -> Callable:
        for name in names.split():
            COMPOSED[name] = function
        return function

    return register


class Call:
    """One call of an operator; tensors among its arguments are `tensors`.

    `mesh_size` is that of the dimension of the mesh that is being decided,
    `mesh_dim`.
    """

    def __init__(self, function, name: str, args: tuple, kwargs: dict) -> None:
        self.function, self.name = function, name
        self.leaves, self._tree = _pytree.tree_flatten((args, kwargs))
        self.args, self.kwargs = args, kwargs
        self.places = [
            i for i, leaf in enumerate(self.leaves) if isinstance(leaf, Tensor)
        ]
        self.in_place = writes(name) or name == "__setitem__"
        self.mesh_size, self.mesh_dim = 1, 0

    @property
    def tensors(self) -> list:
        """Tensors among the arguments, in order."""
        return [self.leaves[i] for i in self.places]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the whole tensors."""
        return [t._spec.tensor_meta.shape for t in self.tensors]

    @property
    def recorded(self) -> bool:
        """True if somebody may ask for a derivative."""
        return is_grad_enabled() and any(t.requires_grad for t in self.tensors)

    def pieces(self, place: int = 0) -> int:
        """Into how many pieces a dimension of one of `tensors` may come to be
        cut: by the mesh's dimension that is decided, and by those along which
        it does not lie whole.
        """
        spec = self.tensors[place]._spec
        count = self.mesh_size
        for dim, placement in enumerate(spec.placements):
            if dim != self.mesh_dim and placement != R:
                count *= spec.mesh.size(dim)
        return count

    def get(self, place: int, name: str, default=None) -> Any:
        """An argument by its place or name."""
        if place < len(self.args):
            return self.args[place]
        return self.kwargs.get(name, default)

    def place_of(self, tensor) -> int | None:
        """Where among `tensors` one is."""
        for i, other in enumerate(self.tensors):
            if other is tensor:
                return i
        return None

    def with_tensors(self, tensors: Sequence) -> tuple[tuple, dict]:
        """The arguments with others in the tensors' places."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        return _pytree.tree_unflatten(leaves, self._tree)


WHOLE = Rule(lambda call: [all_replicated(call)])


def all_replicated(call: Call) -> Way:
    """Way of whole tensors, in every rank."""
    return Way(R, (R,) * len(call.places))
