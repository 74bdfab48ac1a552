"""Which tensors a transform differentiates by, and what it may hand out.

A transform differentiates by tensors of its own: aliases of its arguments that
keep the graph of an enclosing transform, or new leaves. What depends on those
leaves alone has no history for the caller.
"""

from __future__ import annotations

from .. import Tensor, enable_grad, is_grad_enabled, zeros_like
from ..autograd._entry import grad
from ..utils import _tree


class Level:
    """The tensors of one application of a transform."""

    def __init__(self) -> None:
        self._own: set[int] = set()
        self._leaves: list[Tensor] = []  # keeps the ids in use

    def begin(self, value) -> Tensor:
        """The tensor to differentiate by in place of an argument.

        ValueError for what is no tensor, RuntimeError for integers.
        """
        if not isinstance(value, Tensor):
            raise ValueError(
                "Thing passed to transform API must be Tensor, got "
                f"{type(value)}"
            )
        if value.requires_grad:
            with enable_grad():
                return value.view_as(value)
        leaf = value.detach()
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients"
            )
        return self.own(leaf.requires_grad_())

    def own(self, leaf: Tensor) -> Tensor:
        """Counts a leaf as this level's."""
        self._own.add(id(leaf))
        self._leaves.append(leaf)
        return leaf

    def shared(self, tensors) -> bool:
        """Whether somebody else wants derivatives through these tensors."""
        todo, seen = [], set()
        for tensor in tensors:
            if not isinstance(tensor, Tensor) or not tensor.requires_grad:
                continue
            if tensor.grad_fn is not None:
                todo.append(tensor.grad_fn)
            elif id(tensor) not in self._own:
                return True
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            leaf = getattr(node, "variable", None)
            if leaf is not None and id(leaf) not in self._own:
                return True
            todo += [edge[0] for edge in node.next_functions if edge[0]]
        return False

    def end(self, nest):
        """What the caller gets: without the history that only this level has.

        Without any under `no_grad`.

        RuntimeError for a leaf that is no tensor.
        """

        def freed(value):
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"Expected tensors, got unsupported type {type(value)}"
                )
            if not value.requires_grad:
                return value
            wanted = is_grad_enabled() and self.shared((value,))
            return value if wanted else value.detach()

        return _tree.mapped(freed, nest)


def gradients(
    outputs, inputs, grad_outputs=None, create_graph=True, retain_graph=None
) -> list[Tensor]:
    """Gradients of those outputs that have a history; zeros where unused."""
    given = grad_outputs or (None,) * len(outputs)
    pairs = [(o, g) for o, g in zip(outputs, given) if o.requires_grad]
    if not pairs:
        return [zeros_like(i) for i in inputs]
    found = grad(
        [o for o, _ in pairs],
        inputs,
        [g for _, g in pairs],
        create_graph=create_graph,
        retain_graph=retain_graph,
        allow_unused=True,
    )
    return [zeros_like(i) if g is None else g for g, i in zip(found, inputs)]
